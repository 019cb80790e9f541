/** A worker's commands to carriers on their way to the supervisor and back. The answer to a command that is asked for twice is told both times. */
import type { CarrierOutcome, ControlCommand } from '../../shared/telephony/call-control.ts';

export type AskCarrier = (command: ControlCommand, answered: (outcome: CarrierOutcome) => void) => void;

/** Answers that are waited for; calls are bounded, and each has few. */
const mostWaiting = 4_096;

export class CarrierLine {
  readonly #send: (command: ControlCommand) => void;
  readonly #waiting = new Map<string, ((outcome: CarrierOutcome) => void)[]>();

  constructor(send: (command: ControlCommand) => void) {
    this.#send = send;
  }

  readonly ask: AskCarrier = (command, answered) => {
    const known = this.#waiting.get(command.commandId);
    if (known === undefined && this.#waiting.size >= mostWaiting) {
      answered({ kind: 'refused', code: 'unavailable' });
      return;
    }
    this.#waiting.set(command.commandId, [...(known ?? []), answered]);
    this.#send(command);
  };

  answered(commandId: string, outcome: CarrierOutcome): void {
    const waiting = this.#waiting.get(commandId) ?? [];
    this.#waiting.delete(commandId);
    for (const tell of waiting) tell(outcome);
  }
}
