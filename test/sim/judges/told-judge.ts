/** Judges what the core tells of the conversation by the order that worker/core/told.ts promises to its readers. */
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';

const letters = (text: string): string => text.replaceAll(/\s/g, '');

const anywhere: ReadonlySet<ConversationEvent['type']> = new Set([
  ...(['user.transcript', 'command.answered', 'timer.fired', 'operator.text'] as const),
  ...(['tool.started', 'tool.ended'] as const),
]);

export class ToldJudge {
  readonly #demand: (holds: boolean, rule: string) => void;
  #epoch = 0;
  #turn: number | undefined;
  /** The turn that has just ended, whose text may follow. */
  #ended: number | undefined;
  /** Turns that had no text, oldest first. */
  readonly #untold: number[] = [];
  #writing: number | undefined;
  #speaking: number | undefined;
  #cutBefore = 0;
  /** A response was written whose end was not told, and what was heard of it. */
  #spoken = false;
  #heard = '';
  /** Ids of tool calls that run; two turns may have the same one. */
  readonly #tools: string[] = [];

  constructor(demand: (holds: boolean, rule: string) => void) {
    this.#demand = demand;
  }

  saw(event: CallEvent, actions: readonly CallAction[]): void {
    const isWritten = event.type === 'words.written';
    for (const action of actions)
      if (action.type === 'told' && isWritten && action.event.type === 'user.text')
        this.#late(action.event.epoch);
      else if (action.type === 'told') this.#event(action.event);
    const ends = event.type === 'call.closed' || actions.some(({ type }) => type === 'call.end');
    if (!ends) return;
    this.#demand(this.#tools.length === 0, 'told: a tool runs beyond the end of the call');
    this.#demand(!this.#spoken, 'told: the call ends without what was heard of its last response');
  }

  /** Words that were written down later are those of a turn that was told without any, in the order of turns. */
  #late(epoch: number): void {
    const at = this.#untold.indexOf(epoch);
    this.#demand(at >= 0, 'told: late words of a turn that has its own');
    this.#untold.splice(0, at + 1);
  }

  #event(event: ConversationEvent): void {
    const ended = this.#ended;
    const isAnywhere = anywhere.has(event.type);
    if (!isAnywhere) this.#ended = undefined;
    if ('epoch' in event) this.#epochs(event);
    switch (event.type) {
      case 'turn.user_started':
        this.#demand(this.#turn === undefined, 'told: a turn begins within a turn');
        this.#turn = event.epoch;
        return;
      case 'rule.broken':
        this.#demand(false, `broken: ${event.rule}`);
        return;
      case 'turn.user_ended':
        this.#demand(this.#turn !== undefined, 'told: a turn ends that has not begun');
        this.#turn = undefined;
        this.#ended = event.epoch;
        this.#untold.push(event.epoch);
        return;
      case 'user.text':
        this.#demand(ended === event.epoch, 'told: text without the end of its turn');
        this.#demand(event.text.trim() !== '', 'told: a turn without words has text');
        this.#untold.splice(this.#untold.indexOf(event.epoch), 1);
        return;
      case 'bot.llm_started':
        this.#demand(this.#writing === undefined, 'told: a round begins within a round');
        this.#writing = event.epoch;
        return;
      case 'bot.llm_stopped':
        this.#demand(this.#writing === event.epoch, 'told: a round ends that has not begun');
        this.#writing = undefined;
        return;
      case 'turn.bot_started':
        this.#demand(this.#speaking === undefined, 'told: the bot begins twice');
        this.#speaking = event.epoch;
        return;
      case 'bot.text':
        this.#spoken ||= event.text.trim() !== '';
        return;
      case 'bot.heard':
        this.#heard += event.text;
        if (event.end === undefined) return;
        this.#demand(letters(event.end.heard) === letters(this.#heard), 'told: parts are not the whole');
        this.#heard = '';
        this.#spoken = false;
        return;
      case 'turn.bot_ended':
        this.#demand(!this.#spoken, 'told: the bot ends without what was heard of it');
        this.#demand(this.#speaking === event.epoch, 'told: the bot ends what it has not begun');
        this.#speaking = undefined;
        return;
      case 'turn.interrupted':
        this.#cutBefore = event.epoch;
        this.#demand(!this.#spoken, 'told: a response is cut without what was heard of it');
        this.#speaking = undefined;
        return;
      case 'tool.started':
        this.#tools.push(event.call.id);
        return;
      case 'tool.ended': {
        const at = this.#tools.indexOf(event.call.id);
        this.#demand(at >= 0, 'told: a tool ends that does not run');
        this.#tools.splice(at, 1);
        return;
      }
      default:
    }
  }

  #epochs(event: Extract<ConversationEvent, { epoch: number }>): void {
    if (event.type !== 'bot.llm_stopped') {
      this.#demand(event.epoch >= this.#cutBefore, 'told: something of a response that was cut');
      this.#demand(event.epoch >= this.#epoch, 'told: an epoch that is over');
    }
    this.#epoch = Math.max(this.#epoch, event.epoch);
  }
}
