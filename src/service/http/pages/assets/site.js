// Adds what needs a script: copy buttons, and answers without a reload. Every page works without it.
function addCopyButtons(root) {
  // A page that is not served over TLS has no clipboard.
  if (!navigator.clipboard) return;
  for (const block of root.querySelectorAll('pre.copyable')) {
    const text = block.textContent;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    });
    block.prepend(button);
  }
}

async function ask(form, target) {
  const body = new URLSearchParams(new FormData(form));
  body.set('fragment', 'true');
  const answer = await fetch(form.action, { method: 'POST', body });
  const reportPage = answer.headers.get('location');
  if (reportPage !== null) return location.assign(reportPage);
  target.innerHTML = await answer.text();
  addCopyButtons(target);
  target.querySelector('h2').focus();
}

for (const form of document.querySelectorAll('form[data-answers]')) {
  const target = document.getElementById(form.dataset.answers);
  const button = form.querySelector('button');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    try {
      await ask(form, target);
    } catch {
      // The browser then sends the form itself, and shows what is wrong.
      form.submit();
    } finally {
      button.removeAttribute('aria-disabled');
    }
  });
}
addCopyButtons(document);
