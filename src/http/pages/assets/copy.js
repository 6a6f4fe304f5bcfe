// A copy button on each request; without a clipboard (or without scripts) the text can be selected.
for (const block of document.querySelectorAll('.request pre')) {
  if (!navigator.clipboard) break;
  const text = block.textContent;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  });
  block.append(button);
}
