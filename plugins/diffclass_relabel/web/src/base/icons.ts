// Line icons on a grid of 20; drawn in the colour of the text around them.

const icon = (body: string) =>
  `<svg viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.5"` +
  ` stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${body}</svg>`;

export const ICONS = {
  brush: icon('<path d="M16.5 3.5 9 11"/><path d="M9 11a3 3 0 0 1 .5 4.2C8.2 16.8 5.5 17 3.5 16.5c1.4-.7 1.3-1.7 1.5-3A3 3 0 0 1 9 11Z"/>'),
  eraser: icon('<path d="m8 16-4.2-4.2a1.5 1.5 0 0 1 0-2.1l5.9-5.9a1.5 1.5 0 0 1 2.1 0l4.4 4.4a1.5 1.5 0 0 1 0 2.1L10.5 16Z"/><path d="m7 7 6 6"/><path d="M8 16h8.5"/>'),
  polygon: icon('<path d="M4 7.5 11 3.5l5.5 5-2.5 7.5H6Z"/><circle cx="4" cy="7.5" r="1" fill="currentColor"/><circle cx="11" cy="3.5" r="1" fill="currentColor"/><circle cx="16.5" cy="8.5" r="1" fill="currentColor"/><circle cx="14" cy="16" r="1" fill="currentColor"/><circle cx="6" cy="16" r="1" fill="currentColor"/>'),
  lasso: icon('<path d="M5.5 12.5C3.8 11.6 3 10.4 3 9c0-3 3.2-5 7-5s7 2 7 5-3.2 5-7 5c-1 0-2-.1-2.8-.4"/><circle cx="6" cy="13.5" r="1.5"/><path d="M6 15c.3 1 0 1.8-.8 2.5"/>'),
  fill: icon('<path d="m9.5 3.5-6 6a1 1 0 0 0 0 1.4l4.6 4.6a1 1 0 0 0 1.4 0l6-6Z"/><path d="m7.5 5.5 0-3"/><path d="M4 10h10.5"/><path d="M17 13.5c.8 1.2 1.2 1.8 1.2 2.4a1.2 1.2 0 0 1-2.4 0c0-.6.4-1.2 1.2-2.4Z"/>'),
  inspect: icon('<circle cx="10" cy="10" r="6.5"/><path d="M8 8.3a2 2 0 1 1 2.8 1.9c-.6.3-.8.6-.8 1.3"/><circle cx="10" cy="13.6" r=".4" fill="currentColor"/>'),
  undo: icon('<path d="M4 8h8a4 4 0 0 1 0 8H8"/><path d="M7 5 4 8l3 3"/>'),
  redo: icon('<path d="M16 8H8a4 4 0 0 0 0 8h4"/><path d="m13 5 3 3-3 3"/>'),
  export: icon('<path d="M10 3.5v8.5"/><path d="m6.5 8.5 3.5 3.5 3.5-3.5"/><path d="M4 13.5V15a1.5 1.5 0 0 0 1.5 1.5h9A1.5 1.5 0 0 0 16 15v-1.5"/>'),
  import: icon('<path d="M10 12V3.5"/><path d="m6.5 7 3.5-3.5L13.5 7"/><path d="M4 13.5V15a1.5 1.5 0 0 0 1.5 1.5h9A1.5 1.5 0 0 0 16 15v-1.5"/>'),
  light: icon('<circle cx="10" cy="10" r="6"/><path d="M10 4a6 6 0 0 1 0 12Z" fill="currentColor"/>'),
  help: icon('<rect x="2.5" y="5.5" width="15" height="9.5" rx="1.5"/><path d="M5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 12h7"/>'),
  eye: icon('<path d="M2.5 10S5 5 10 5s7.5 5 7.5 5-2.5 5-7.5 5-7.5-5-7.5-5Z"/><circle cx="10" cy="10" r="2.2"/>'),
  eyeOff: icon('<path d="M5 6.7C3.3 8 2.5 10 2.5 10S5 15 10 15c1.6 0 2.9-.5 4-1.2M8 5.3C8.6 5.1 9.3 5 10 5c5 0 7.5 5 7.5 5s-.5 1-1.5 2.2"/><path d="m3.5 3.5 13 13"/>'),
  lock: icon('<rect x="5" y="9" width="10" height="7.5" rx="1.5"/><path d="M7 9V6.5a3 3 0 0 1 6 0V9"/>'),
  unlock: icon('<rect x="5" y="9" width="10" height="7.5" rx="1.5"/><path d="M7 9V6a3 3 0 0 1 5.8-1"/>'),
  more: icon('<g fill="currentColor" stroke="none"><circle cx="5" cy="10" r="1.3"/><circle cx="10" cy="10" r="1.3"/><circle cx="15" cy="10" r="1.3"/></g>'),
  plus: icon('<path d="M10 4.5v11M4.5 10h11"/>'),
  minus: icon('<path d="M4.5 10h11"/>'),
  fit: icon('<path d="M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13"/>'),
  previous: icon('<path d="m12 5-5 5 5 5"/>'),
  next: icon('<path d="m8 5 5 5-5 5"/>'),
  compare: icon('<path d="M10 2.5v15"/><path d="M7.5 5.5h-4v9h4"/><path d="M12.5 5.5h4v9h-4Z" fill="currentColor"/>'),
  chart: icon('<path d="M3.5 3.5v13h13"/><path d="m6 12.5 3-4 3 2 4-5.5"/>'),
  remove: icon('<path d="m5.5 5.5 9 9M14.5 5.5l-9 9"/>'),
  update: icon('<path d="M16 10a6 6 0 1 1-1.8-4.3"/><path d="M16 3v3.5h-3.5"/>'),
};
