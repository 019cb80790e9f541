/** The core's orders to the three provider sessions of a call, performed. It decides nothing. */
import { unreachable } from '../../shared/base/assert.ts';
import type { CallAudio } from './audio.ts';
import type { CallStages } from './stages.ts';
import type { CallAction } from '../core/actions.ts';

type StageOrder = Extract<CallAction, { type: `stt.${string}` | `llm.${string}` | `tts.${string}` }>;

/** Whether an order is for a session with a provider. */
export const isStageOrder = (action: CallAction): action is StageOrder =>
  /^(stt|llm|tts)\./.test(action.type);

/** Whether an order is for what the caller hears. */
export const isPlayoutOrder = (
  action: CallAction,
): action is Extract<CallAction, { type: `playout.${string}` }> => action.type.startsWith('playout.');

export function performStageOrder(
  { stages, audio }: { readonly stages: CallStages; readonly audio: CallAudio },
  order: StageOrder,
): void {
  switch (order.type) {
    case 'stt.listen':
      audio.listen({ fresh: order.fresh });
      return;
    case 'stt.replay':
      audio.replay();
      return;
    case 'stt.finalize':
    case 'stt.flush':
      audio.stopListening();
      stages.stt.finalize();
      return;
    case 'stt.reopen':
      stages.reopenStt();
      return;
    case 'llm.start':
      stages.startLlm(order.round, order.messages, order.tools);
      return;
    case 'llm.cancel':
      stages.cancelLlm();
      return;
    case 'tts.speak':
      stages.tts.speak(order.context, order.text, order);
      return;
    case 'tts.prepare':
      stages.tts.prepare(order.text);
      return;
    case 'tts.forget':
      stages.tts.forget();
      return;
    case 'tts.flush':
      stages.tts.flush(order.context);
      return;
    case 'tts.cancel':
      stages.tts.cancel(order.context);
      return;
    case 'tts.reopen':
      stages.reopenTts();
      audio.ttsReopened();
      return;
    default:
      unreachable(order);
  }
}
