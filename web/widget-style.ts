/** How the element for other pages looks. Its colours can be set from outside by the custom properties that begin with `--voice-agent`. */
export const widgetStyle = `
  :host { display: block; max-width: 420px; font: 16px/1.45 system-ui, sans-serif; color: var(--voice-agent-text, #17201e); }
  section { display: grid; gap: 10px; padding: 14px; border: 1px solid var(--voice-agent-line, #dfe3df);
    border-radius: 16px; background: var(--voice-agent-card, #fff); }
  .row { display: flex; flex-wrap: wrap; gap: 10px; align-items: center; }
  button { min-height: 44px; padding: 0 18px; border: 0; border-radius: 22px; font: inherit; font-weight: 600; cursor: pointer; }
  button:focus-visible { outline: 3px solid var(--voice-agent-accent, #0f7a6c); outline-offset: 2px; }
  .call { background: var(--voice-agent-accent, #0f7a6c); color: var(--voice-agent-on-accent, #fff); }
  .call.running { background: #b3352b; color: #fff; }
  .mute { border: 1px solid currentColor; background: transparent; color: inherit; }
  p { margin: 0; }
  .state { color: var(--voice-agent-soft, #5a6764); }
  .problem { padding: 8px 12px; border-radius: 10px; background: #fbe5e2; color: #8c241c; }
  [hidden] { display: none; }
  ol { display: grid; gap: 6px; margin: 0; padding: 0; list-style: none; }
  li { padding: 6px 12px; border-radius: 12px; background: var(--voice-agent-track, #eef1ee); overflow-wrap: anywhere; }
  li.caller { justify-self: end; background: var(--voice-agent-caller, #dde9f8); color: #17201e; }
  s { opacity: 0.75; }
  @media (prefers-color-scheme: dark) {
    :host { color: var(--voice-agent-text, #e8edeb); }
    section { border-color: var(--voice-agent-line, #2a322f); background: var(--voice-agent-card, #191f1d); }
    .state { color: var(--voice-agent-soft, #9aa8a4); }
    li { background: var(--voice-agent-track, #2a322f); }
    li.caller { background: var(--voice-agent-caller, #1b2c42); color: #e8edeb; }
    .call { background: var(--voice-agent-accent, #3fb8a3); color: var(--voice-agent-on-accent, #06231d); }
    .call.running { background: #c4483d; color: #fff; }
  }
`;
