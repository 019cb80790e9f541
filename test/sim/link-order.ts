/**
 * What an agent may rely on of the order in which it is told (docs/reference/agent-link.md, The order of events), judged by what arrives:
 * numbers grow one by one from the opening of each connection; what was told earlier arrives earlier, once; `session.end` is last.
 */
type Message = Readonly<Record<string, unknown>> & { readonly type: string };

export class OrderJudge {
  readonly #violated: (rule: string) => void;
  #seq = 0;
  #connection = 0;
  #counted = 0;
  #hasEnded = false;
  /** Events that arrived, and those that the agent was told it did not get. */
  arrived = 0;
  lost = 0;

  constructor(violated: (rule: string) => void) {
    this.#violated = violated;
  }

  /** An event as it is told: with its number among all that are told. */
  static event(count: number): string {
    return `event ${count}`;
  }

  hear(message: Message, connection: number): void {
    const seq = Number(message['seq']);
    if (this.#hasEnded) this.#violated('nothing comes behind session.end');
    if (connection !== this.#connection) {
      if (message.type !== 'session.start') this.#violated(`a connection begins with ${message.type}`);
      this.#connection = connection;
      this.#seq = 0;
    }
    if (seq !== this.#seq + 1) this.#violated(`seq ${seq} follows ${this.#seq}`);
    this.#seq = seq;
    if (message.type === 'session.end') this.#hasEnded = true;
    if (message.type === 'events.lost') this.lost += Number(message['count']);
    const [, count] = /^event (\d+)$/.exec(String(message['text'])) ?? [];
    if (count === undefined) return;
    if (Number(count) <= this.#counted) this.#violated(`event ${count} comes behind event ${this.#counted}`);
    this.#counted = Number(count);
    this.arrived += 1;
  }
}
