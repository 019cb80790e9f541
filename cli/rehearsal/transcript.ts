/**
 * What was said and done in a conversation, turn by turn: turn 0 is what the agent does of its own accord when the call
 * opens, every other begins with the caller. It keeps what happened and judges nothing.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { ConversationEvent, EndedBy, TurnTimings } from './conversation.ts';

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** Refused calls, and those that the caller said no to, are not run. */
  isRun: boolean;
  result?: string;
}

export interface TurnRecord {
  /** What the caller said or did; absent in turn 0. */
  readonly caller?: string;
  /** What the agent said in it, without what nobody heard. */
  readonly said: string;
  readonly tools: readonly ToolUse[];
  /** Nodes of the flow that were entered. */
  readonly nodes: readonly string[];
  readonly timings?: TurnTimings;
}

interface Said {
  readonly response: number;
  text: string;
}

interface OpenTurn {
  readonly caller?: string;
  readonly said: Said[];
  readonly tools: ToolUse[];
  readonly nodes: string[];
  timings?: TurnTimings;
}

const newTurn = (caller?: string): OpenTurn => ({
  ...(caller !== undefined && { caller }),
  said: [],
  tools: [],
  nodes: [],
});

export class Transcript {
  readonly #turns: OpenTurn[] = [newTurn()];
  readonly #faults: string[] = [];
  #endedBy: EndedBy | undefined;

  take(event: ConversationEvent): void {
    switch (event.type) {
      case 'caller.said':
        this.#turns.push(newTurn(event.text));
        return;
      case 'caller.pressed':
        this.#turns.push(newTurn(`[keys ${event.keys}]`));
        return;
      case 'caller.waited':
        this.#turns.push(newTurn(`[silent for ${shownSeconds(event.ms)}]`));
        return;
      case 'bot.text':
        this.#saidIn(event.response).text += event.text;
        return;
      case 'bot.cut':
        this.#saidIn(event.response).text = event.heard;
        return;
      case 'tool.called':
        this.#last.tools.push({ id: event.id, name: event.name, arguments: event.arguments, isRun: false });
        return;
      case 'tool.started':
        this.#runs(event.id);
        return;
      case 'tool.result': {
        const use = this.#useOf(event.id);
        if (use !== undefined) use.result = event.text;
        return;
      }
      case 'node.entered':
        this.#last.nodes.push(event.node);
        return;
      case 'turn.done':
        this.#last.timings = event.timings;
        return;
      case 'fault':
        this.#faults.push(`${event.stage}: ${event.what}`);
        return;
      case 'ended':
        this.#endedBy = event.by;
        return;
    }
  }

  get turns(): readonly TurnRecord[] {
    return this.#turns.map(({ said, ...turn }) => ({
      ...turn,
      said: said
        .map(({ text }) => text.trim())
        .filter((text) => text !== '')
        .join(' '),
    }));
  }

  /** Stages that failed on the way, whether the call went on or not. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  get endedBy(): EndedBy | undefined {
    return this.#endedBy;
  }

  get #last(): OpenTurn {
    const last = this.#turns.at(-1);
    if (last === undefined) throw new Error('a transcript begins with a turn');
    return last;
  }

  /** A tool that waited for the caller's yes belongs to the turn of the yes. */
  #runs(id: string): void {
    const use = this.#useOf(id);
    if (use === undefined) return;
    use.isRun = true;
    const asked = this.#turns.find(({ tools }) => tools.includes(use));
    if (asked === undefined || asked === this.#last) return;
    asked.tools.splice(asked.tools.indexOf(use), 1);
    this.#last.tools.push(use);
  }

  #useOf(id: string): ToolUse | undefined {
    return this.#turns.flatMap(({ tools }) => tools).findLast((use) => use.id === id);
  }

  /** The response where it began: its rest may come after the caller's next line has. */
  #saidIn(response: number): Said {
    const known = this.#turns.flatMap(({ said }) => said).findLast((said) => said.response === response);
    if (known !== undefined) return known;
    const said = { response, text: '' };
    this.#last.said.push(said);
    return said;
  }
}

const shownSeconds = (ms: Millis): string => `${ms / 1000} s`;
