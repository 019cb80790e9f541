/** The history page: the list of calls that are over, and one of them where the address names it. */
import { CallView } from './calls/call-view.ts';
import { ListView } from './calls/list-view.ts';
import { Refused, Service } from './calls/wire.ts';
import { byId, setText } from './elements.ts';

const state = byId('state', HTMLParagraphElement);
const door = byId('door', HTMLFormElement);
const token = byId('token', HTMLInputElement);
const listPart = byId('list', HTMLElement);
const callPart = byId('call', HTMLDivElement);

const service = new Service();
const failed = (error: unknown): void =>
  setText(state, error instanceof Refused ? error.message : 'This page has failed: load it again.');
const list = new ListView(service, { failed, listed: () => setText(state, '') });
const call = new CallView(service);
let isOpen = false;
/** The address of the call that was shown last. */
let shown = '';

/** Shows what the address names. */
async function show(): Promise<void> {
  if (!isOpen) return;
  const { hash } = location;
  if (hash.length < 2) {
    call.close();
    callPart.hidden = true;
    listPart.hidden = false;
    // A keyboard goes on where the call was chosen.
    for (const link of listPart.querySelectorAll('a')) if (link.hash === shown) link.focus();
    return;
  }
  try {
    const one = await service.call(decodeURIComponent(hash.slice(1)));
    if (location.hash !== hash) return;
    setText(state, '');
    listPart.hidden = true;
    callPart.hidden = false;
    shown = hash;
    call.show(one);
    scrollTo(0, 0);
  } catch (error) {
    failed(error);
  }
}

async function open(): Promise<void> {
  service.token = token.value;
  if (token.value === '') return;
  try {
    const about = await service.about();
    sessionStorage.setItem('calls', token.value);
    isOpen = true;
    list.about(about);
    call.about = about;
    await list.look();
    await show();
  } catch (error) {
    failed(error);
  }
}

door.addEventListener('submit', (event) => {
  event.preventDefault();
  void open();
});
addEventListener('hashchange', () => void show());
token.value = sessionStorage.getItem('calls') ?? '';
void open();
