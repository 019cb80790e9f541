/**
 * What the page of the live view has for operators who listen: its part of the document, and the script that makes it work, which is built
 * from `web/monitor.ts`. Read once, so that a release that is being replaced is never served in parts.
 */
import { readFileSync } from 'node:fs';

const script = 'text/javascript; charset=utf-8';
const names: readonly (readonly [path: string, name: string])[] = [
  ['/live/monitor.js', 'monitor.js'],
  ['/live/worklets.js', 'worklets.js'],
];

export interface MonitorFile {
  readonly type: string;
  readonly body: Buffer;
}

/** By path. Throws when the page was not built. */
export function readMonitorFiles(folder: URL): ReadonlyMap<string, MonitorFile> {
  return new Map(
    names.map(([path, name]) => [path, { type: script, body: readFileSync(new URL(name, folder)) }]),
  );
}

export const monitorTokens = `<p><label>Token for listening <input id="monitor-token" type="password" autocomplete="off"></label>
<label>Your name, for the log <input id="monitor-by" autocomplete="off" maxlength="64"></label></p>`;

export const monitorPanel = `<section id="monitor" aria-labelledby="monitor-heading" hidden>
<h2 id="monitor-heading">Call <span id="monitor-call"></span></h2>
<p id="monitor-state" role="status"></p>
<p><button id="monitor-stop">Stop listening</button> <button id="monitor-take-over" hidden>Take over</button></p>
<form id="monitor-hand-back" hidden><label>Note for the agent <input id="monitor-note" maxlength="2000" autocomplete="off"></label> <button>Hand back</button></form>
<form id="monitor-whisper" hidden><label>Whisper to the agent <input id="monitor-whisper-text" maxlength="2000" autocomplete="off"></label> <button>Whisper</button></form>
<div id="monitor-said" role="log" aria-label="What is said" aria-live="off" tabindex="0"></div>
</section>`;

export const monitorScript = '<script type="module" src="/live/monitor.js"></script>';

export const monitorStyle = `
#monitor { border: 1px solid #8886; border-radius: .5rem; padding: .5rem 1rem 1rem; margin: 0 0 2rem; max-width: 48rem; }
#monitor.mine { border: 2px solid #b3352b; }
#monitor h2 { margin: .25rem 0; overflow-wrap: anywhere; }
#monitor form { margin: .75rem 0; display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; }
#monitor form label { flex: 1 1 16rem; margin: 0; }
#monitor-take-over, #monitor-hand-back button { font-weight: 600; }
#calls td:last-child { padding-left: .6rem; box-shadow: -.5rem 0 .5rem -.5rem #8886; }
#monitor form input { display: block; width: 100%; box-sizing: border-box; }
#monitor-said { height: 14rem; overflow-y: auto; border-top: 1px solid #8884; }
#monitor-said p { margin: .35rem 0; overflow-wrap: anywhere; }
input, button { font: inherit; padding: .2rem .5rem; min-height: 2rem; }
label { display: inline-block; margin: 0 1rem .25rem 0; }
@media (max-width: 40rem) { body { margin: 1rem; } label, label input { display: block; width: 100%; box-sizing: border-box; } }
`;
