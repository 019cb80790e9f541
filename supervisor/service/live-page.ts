/**
 * The page of the live view: one document without anything from elsewhere, and with operators who listen the script of theirs. Its contents are
 * written as text, never as markup.
 */
import { createHash } from 'node:crypto';
import { monitorPanel, monitorScript, monitorStyle, monitorTokens } from '../monitor/page.ts';

const script = `
const $ = (id) => document.getElementById(id);
const field = $('token');
field.value = sessionStorage.getItem('live') ?? '';
const ask = (path, options = {}) =>
  fetch(path, { ...options, headers: { authorization: 'Bearer ' + field.value } });
const clock = (ms) => Math.floor(ms / 60000) + ':' + String(Math.floor(ms / 1000) % 60).padStart(2, '0');
// Rows stay where they are as long as what they show is there: nobody's click or focus goes to another one.
function table(id, rows, { key, texts, begin }) {
  const body = $(id);
  const gone = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  rows.forEach((one, at) => {
    const name = String(key(one, at));
    const row = gone.get(name) ?? body.insertRow();
    const isNew = !gone.delete(name);
    row.dataset.key = name;
    texts(one).forEach((text, column) => {
      const cell = row.cells[column] ?? row.insertCell();
      if (cell.textContent !== String(text)) cell.textContent = text;
      if (column === 0) cell.title = text;
    });
    if (isNew) begin?.(row, one);
  });
  for (const row of gone.values()) row.remove();
}
function endButton(row, { call }) {
  const end = document.createElement('button');
  end.textContent = 'End';
  end.setAttribute('aria-label', 'End call ' + call);
  end.onclick = () => { if (confirm('End call ' + call + '?')) ask('/live/calls/' + encodeURIComponent(call) + '/end?by=' + encodeURIComponent($('monitor-by')?.value ?? ''), { method: 'POST' }); };
  row.insertCell().append(end);
}
async function look() {
  if (field.value === '') return;
  let answer;
  try { answer = await ask('/live/state'); } catch { $('head').textContent = 'The service does not answer.'; return; }
  if (answer.status === 401) { $('head').textContent = 'The token is not the right one.'; return; }
  const state = await answer.json();
  sessionStorage.setItem('live', field.value);
  $('head').textContent = state.agent + ': ' + (state.ready ? 'ready' : 'not ready (' + state.why + ')') + ', ' +
    state.sessions + (state.maxSessions === undefined ? '' : ' of ' + state.maxSessions) + ' calls';
  $('agents').textContent = (state.agentProblems ?? []).join('\\n');
  table('calls', state.calls, {
    key: ({ call }) => call,
    texts: (call) => [
      call.call, clock(call.ageMs), call.isOwed ? call.speaker + ', answer owed' : call.speaker, call.turns,
      call.lastResponseMs === undefined ? '' : call.lastResponseMs + ' ms', call.interruptions, call.runningTools,
      call.faults.stt + ' / ' + call.faults.llm + ' / ' + call.faults.tts, call.worker,
    ],
    begin: (row, call) => {
      endButton(row, call);
      row.dispatchEvent(new CustomEvent('live-call', { bubbles: true }));
    },
  });
  table('workers', state.workers, {
    key: ({ worker }) => worker,
    texts: (one) => [one.worker, one.calls, one.latenessMs.toFixed(1) + ' ms', one.silentMs + ' ms'],
  });
  table('providers', state.providers, {
    key: (_, at) => at,
    texts: (one) => [one.stage, one.provider, one.role, one.breaker.replace('_', ' ')],
  });
}
field.onchange = look;
look();
setInterval(look, 1000);
`;

const style = `
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #1b1f24; background: #fff; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0 0 2rem; }
th, td { white-space: nowrap; text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #8884; font-variant-numeric: tabular-nums; }
#calls td:first-child { max-width: min(24rem, 40vw); overflow: hidden; text-overflow: ellipsis; }
#calls td:last-child { position: sticky; right: 0; background: #fff; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #15181c; } #calls td:last-child { background: #15181c; } }
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export interface LivePage {
  readonly policy: string;
  readonly body: string;
}

/** @param hasMonitor operators may listen to calls. */
export function livePage({ hasMonitor }: { readonly hasMonitor: boolean }): LivePage {
  const css = hasMonitor ? style + monitorStyle : style;
  const scripts = hasMonitor ? `${hashOf(script)} 'self'` : hashOf(script);
  const policy = `default-src 'none'; connect-src 'self'; script-src ${scripts}; style-src ${hashOf(css)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { policy, body: documentOf(css, hasMonitor) };
}

const heads = (names: readonly string[]): string =>
  `<thead><tr>${names.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead>`;

/** A table that may be wider than the window: the keyboard scrolls it too. */
const wide = (name: string): string => `<div class="wide" role="region" aria-label="${name}" tabindex="0">`;

const documentOf = (css: string, hasMonitor: boolean): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Live calls</title>
<style>${css}</style>
<main>
<h1>Live calls</h1>
<p><label>Token <input id="token" type="password" autocomplete="off"></label></p>
${hasMonitor ? monitorTokens : ''}
<p id="head" role="status">The token is the one in SVC_LIVE_TOKEN.</p>
<pre id="agents"></pre>
${wide('Calls')}<table>${heads(['Call', 'Age', 'Speaks', 'Turns', 'Last answer', 'Interruptions', 'Tools', 'Faults STT / LLM / TTS', 'Worker', 'Actions'])}<tbody id="calls"></tbody></table></div>
${hasMonitor ? monitorPanel : ''}
<h2>Workers</h2>
${wide('Workers')}<table>${heads(['Worker', 'Calls', 'Worst lateness', 'Last sign of life'])}<tbody id="workers"></tbody></table></div>
<h2>Providers</h2>
${wide('Providers')}<table>${heads(['Stage', 'Provider', 'Role', 'Breaker'])}<tbody id="providers"></tbody></table></div>
</main>
<script>${script}</script>
${hasMonitor ? monitorScript : ''}
</html>
`;
