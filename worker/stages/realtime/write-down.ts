/** Has an STT write down a turn that a model heard and did not answer. */
import type { Millis } from '../../../shared/base/units.ts';
import type { StageContext, SttStage } from '../stage.ts';

/** The caller waits meanwhile: what STT has by then is what there is. */
const latestMs: Millis = 2_000;

/** `written` is told once, empty where nothing was understood, unless it is cancelled before. */
export function writeDown(
  { context, stt, chunks }: { context: StageContext; stt: SttStage; chunks: readonly Int16Array[] },
  written: (text: string) => void,
): { readonly cancel: () => void } {
  const finals: string[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
    timer.cancel();
    session.close();
  };
  const finish = (): void => {
    if (isOver) return;
    end();
    written(finals.join(' '));
  };
  const timer = context.clock.after(latestMs, context.bind(finish));
  const session = stt.open(context, (event) => {
    if (event.type === 'transcript' && event.isFinal && event.text.trim() !== '')
      finals.push(event.text.trim());
    else if (event.type === 'finalized' || event.type === 'error') finish();
  });
  for (const chunk of chunks) session.audio(chunk);
  session.finalize();
  return {
    cancel: () => {
      if (!isOver) end();
    },
  };
}
