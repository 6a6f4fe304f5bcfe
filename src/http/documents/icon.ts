export const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" role="img" aria-label="x402 Conformance Scanner"><path fill="#0b5fff" d="M16 1 29 6v9c0 8-5 14-13 16C8 29 3 23 3 15V6z"/><path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="m9 16 5 5 9-10"/></svg>
`;
