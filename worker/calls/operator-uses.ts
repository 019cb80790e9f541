/** What operators do in a call, as facts of its record: one entry for each time that one listens, whispers or speaks in the agent's place. Pure. */
import type { FactOf } from '../../shared/calls/facts.ts';
import type { MonitorUse } from '../../shared/monitor/messages.ts';

/** Without the time at which it is written. */
type Entry = Omit<FactOf<'operator'>, 'at' | 'n'>;

export class OperatorUses {
  /** By connection. */
  readonly #listening = new Map<string, Entry>();
  #speaking: { readonly connection: string; readonly entry: Entry } | undefined;
  #count = 0;

  /** @param at milliseconds since the call began. */
  used(use: MonitorUse, at: number): readonly Entry[] {
    const { what, connection } = use;
    switch (what) {
      case 'listens': {
        const entry = this.#entry('listen', use);
        this.#listening.set(connection, entry);
        return [entry];
      }
      case 'whispers':
        return [this.#entry('whisper', use)];
      case 'takes over': {
        const entry = this.#entry('take_over', use);
        this.#speaking = { connection, entry };
        return [entry];
      }
      case 'leaves': {
        const spoken = this.#speaking?.connection === connection ? this.handedBack(at) : [];
        const entry = this.#listening.get(connection);
        this.#listening.delete(connection);
        return entry === undefined ? spoken : [...spoken, { ...entry, until: at }];
      }
      // The core tells what comes of these.
      case 'asks for the call':
      case 'hands back':
        return [];
    }
  }

  /** The agent speaks again, for whatever reason. */
  handedBack(at: number): readonly Entry[] {
    const speaking = this.#speaking;
    this.#speaking = undefined;
    return speaking === undefined ? [] : [{ ...speaking.entry, until: at }];
  }

  #entry(role: Entry['role'], { connection, by }: MonitorUse): Entry {
    this.#count += 1;
    const id = `${connection} ${this.#count}`;
    return { t: 'operator', id, role, ...(by !== '' && { name: by }) };
  }
}
