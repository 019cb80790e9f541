/** One question to an LLM and its whole answer, for all who ask outside of calls: callers and judges that are played by one, analyses. It never asks twice. */
import { fail, ok, type Result } from '../../shared/base/result.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { Scope } from '../../shared/runtime/scope.ts';
import { reasonOf } from './failure.ts';
import type { LlmEvent, LlmRequest, LlmStage, LlmUsage } from './stage.ts';

export interface LlmAnswer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** Absent where the provider does not count. */
  readonly usage?: LlmUsage;
}

export interface AskOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The reason of a failure is of a closed vocabulary, without addresses or payloads. */
export function askLlm(
  llm: LlmStage,
  request: LlmRequest,
  { clock, signal }: AskOptions,
): Promise<Result<LlmAnswer, string>> {
  return new Promise((resolve) => {
    let text = '';
    const calls: { name: string; arguments: string }[] = [];
    const finish = (result: Result<LlmAnswer, string>): void => {
      signal.removeEventListener('abort', onAbort);
      scope.close();
      resolve(result);
    };
    const onAbort = (): void => {
      session.close();
      finish(fail('cancelled'));
    };
    const scope = new Scope('question', () => finish(fail('fault')));
    const take = (event: LlmEvent): void => {
      if (event.type === 'text') {
        text += event.text;
      } else if (event.type === 'tool-call') {
        const known = calls[event.index];
        calls[event.index] = {
          name: known?.name ?? event.name ?? '',
          arguments: (known?.arguments ?? '') + event.arguments,
        };
      } else if (event.type === 'error') {
        finish(fail(reasonOf(event.error)));
      } else {
        const { usage } = event;
        const given = calls.filter((call) => call !== undefined);
        finish(ok({ text: text.trim(), calls: given, ...(usage !== undefined && { usage }) }));
      }
    };
    const session = llm.open({ clock, bind: (callback) => scope.bind(callback) }, {});
    session.start(request, take);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
