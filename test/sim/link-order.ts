/**
 * What an agent may rely on of the order in which it is told (docs/reference/agent-link.md, The order of events), judged by what arrives:
 * numbers only grow, and one by one on a connection that has not lost anything; what was told earlier arrives earlier, once; `session.end` is last.
 */
type Message = Readonly<Record<string, unknown>> & { readonly type: string };

export class OrderJudge {
  readonly #violated: (rule: string) => void;
  #seq = 0;
  #connection = 0;
  #counted = 0;
  #hasEnded = false;
  /** Numbers of the newest connection are whole: nothing before it is sent again, and nothing leaps. */
  #isWhole = true;
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
    if (seq <= this.#seq) this.#violated(`seq ${seq} comes behind ${this.#seq}`);
    if (connection !== this.#connection) {
      const opening = this.#connection === 0 ? 'session.start' : 'session.resume';
      // A connection that broke before its first message arrived has no opening.
      if (message.type !== opening && message.type !== 'session.start' && message.type !== 'session.resume')
        this.#violated(`a connection begins with ${message.type}`);
      this.#connection = connection;
      this.#isWhole = message.type === 'session.start';
    } else if (this.#isWhole && seq !== this.#seq + 1) this.#violated(`seq ${seq} follows ${this.#seq}`);
    // What was written before it may still follow, with the numbers that it had.
    if (message.type !== 'session.resume') this.#seq = seq;
    if (message.type === 'session.end') this.#hasEnded = true;
    if (message.type === 'events.lost') this.lost += Number(message['count']);
    const [, count] = /^event (\d+)$/.exec(String(message['text'])) ?? [];
    if (count === undefined) return;
    if (Number(count) <= this.#counted) this.#violated(`event ${count} comes behind event ${this.#counted}`);
    this.#counted = Number(count);
    this.arrived += 1;
  }
}
