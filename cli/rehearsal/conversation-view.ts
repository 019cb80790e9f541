/**
 * A conversation as lines for people: who said what, tools, nodes of the flow and times. It shows every event once, in
 * order; what it shows of a model or a tool is printable.
 */
import { unreachable } from '../../shared/base/assert.ts';
import type { Colours } from './colours.ts';
import type { ConversationEvent, TurnTimings } from './conversation.ts';
import { printable, shownMs } from '../commands/printable.ts';

export interface ViewOptions {
  readonly colours: Colours;
  /** Takes one line without its end. */
  readonly write: (line: string) => void;
  /** Show each piece of a response as it comes instead of the whole when it is over. */
  readonly streams: boolean;
  /** Show what the caller says, for where it was not typed in sight. */
  readonly showsCaller: boolean;
}

export class ConversationView {
  readonly #options: ViewOptions;
  #response: number | undefined;
  #text = '';

  constructor(options: ViewOptions) {
    this.#options = options;
  }

  take(event: ConversationEvent): void {
    if (event.type === 'bot.text') {
      this.#takeText(event.response, event.text);
      return;
    }
    this.#flush();
    const line = lineOf(event, this.#options.showsCaller);
    if (line === undefined) return;
    const { colours, write } = this.#options;
    if (event.type === 'fault') write(colours.bad(line));
    else if (event.type.startsWith('caller.')) write(line);
    else write(colours.aside(line));
  }

  #takeText(response: number, text: string): void {
    if (response !== this.#response) this.#flush();
    const isFirst = response !== this.#response;
    this.#response = response;
    this.#text += text;
    if (!this.#options.streams) return;
    this.#options.write(this.#options.colours.agent(`${isFirst ? 'agent: ' : '       '}${printable(text)}`));
    this.#text = '';
  }

  #flush(): void {
    if (this.#text !== '')
      this.#options.write(this.#options.colours.agent(`agent: ${printable(this.#text)}`));
    this.#text = '';
    this.#response = undefined;
  }
}

function lineOf(
  event: Exclude<ConversationEvent, { type: 'bot.text' }>,
  showsCaller: boolean,
): string | undefined {
  switch (event.type) {
    case 'caller.said':
      return showsCaller ? `you: ${printable(event.text)}` : undefined;
    case 'caller.pressed':
      return showsCaller ? `you: (keys ${event.keys})` : undefined;
    case 'caller.waited':
      return showsCaller ? `you: (silent for ${shownMs(event.ms)})` : undefined;
    case 'bot.cut':
      return event.heard === ''
        ? '  (interrupted before a word was heard)'
        : `  (interrupted; heard: ${printable(event.heard)})`;
    case 'tool.called':
      return `  tool ${printable(event.name)} ${printable(event.arguments)}`;
    case 'tool.started':
      return undefined;
    case 'tool.result':
      return `  tool ${printable(event.name)} -> ${printable(event.text)}${tookOf(event.tookMs)}`;
    case 'node.entered':
      return `  node ${printable(event.node)}`;
    case 'turn.done':
      return `  (${shownTimings(event.timings)})`;
    case 'fault':
      return `  fault: ${event.stage} ${event.what}`;
    case 'ended':
      return endings[event.by];
    default:
      return unreachable(event);
  }
}

const tookOf = (ms: number | undefined): string => (ms === undefined ? '' : ` (${shownMs(ms)})`);

const endings = {
  agent: 'The agent ended the call.',
  caller: 'The caller hung up.',
  fault: 'The call ended with a fault of the engine.',
} as const;

function shownTimings({ firstTextMs, thoughtMs, spokenMs }: TurnTimings): string {
  const first = firstTextMs === undefined ? 'no text' : `first text ${shownMs(firstTextMs)}`;
  return `${first}, complete ${shownMs(thoughtMs)}, ${shownMs(spokenMs)} of speech`;
}
