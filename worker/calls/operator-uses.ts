/** When operators listened to a call, whispered, or spoke in the agent's place, as facts. Pure. */
import type { FactOf } from '../../shared/calls/facts.ts';
import type { MonitorUse } from '../../shared/monitor/messages.ts';

type Role = FactOf<'operator'>['role'];
type Fact = Omit<FactOf<'operator'>, 'at' | 'n'>;

const begins: Partial<Record<MonitorUse['what'], Role>> = {
  listens: 'listen',
  whispers: 'whisper',
  'takes over': 'take_over',
};
const ends: Partial<Record<MonitorUse['what'], readonly Role[]>> = {
  leaves: ['take_over', 'listen'],
  'hands back': ['take_over'],
};
/** Uses whose end is waited for. */
const mostOpen = 32;

export class OperatorUses {
  readonly #open: { readonly role: Role; readonly by: string; readonly id: string; readonly name: string }[] =
    [];

  /** `name`: of the operator, as it may be written down; `at`: milliseconds since the call began. */
  told({ what, by }: MonitorUse, { name, at }: { readonly name: string; readonly at: number }): Fact[] {
    const role = begins[what];
    if (role !== undefined) {
      const id = `${role} ${at} ${name}`;
      if (role !== 'whisper' && this.#open.length < mostOpen) this.#open.push({ role, by, id, name });
      return [{ t: 'operator', id, role, name }];
    }
    return (ends[what] ?? []).flatMap((ended) => {
      const found = this.#open.findIndex((use) => use.role === ended && use.by === by);
      const [use] = found === -1 ? [] : this.#open.splice(found, 1);
      return use === undefined
        ? []
        : [{ t: 'operator' as const, id: use.id, role: ended, name: use.name, until: at }];
    });
  }
}
