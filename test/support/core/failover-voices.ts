/** Two scripted voices, of which the second follows the first, on virtual time. */
import { newFailoverTts } from '../../../worker/stages/failover/tts.ts';
import type { StageContext, TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { newFailoverScope, type Recorded } from './failover.ts';
import { ScriptedTts } from './scripted-stages.ts';
import { Events, newStageContext } from './stage-context.ts';
import { newVirtualClock, type VirtualClock } from './virtual-clock.ts';

interface OpenVoices {
  readonly clock: VirtualClock;
  readonly primary: ScriptedTts;
  readonly secondary: ScriptedTts;
  readonly scope: Recorded;
  readonly events: Events<TtsEvent>;
  readonly context: StageContext;
  readonly stage: TtsStage;
  readonly session: TtsSession;
}

export function openVoices(options: { hedgeAfterMs?: number } = {}): OpenVoices {
  const clock = newVirtualClock();
  const [primary, secondary] = [new ScriptedTts(), new ScriptedTts()];
  const scope = newFailoverScope('tts', {
    primary: primary.stage,
    secondary: secondary.stage,
    machineMs: () => clock.now() + 1_000,
  });
  const events = new Events<TtsEvent>();
  const stage = newFailoverTts({ ...scope, ...options });
  const context = newStageContext(clock);
  const session = stage.open(context, events.sink);
  return { clock, context, primary, secondary, scope, events, stage, session };
}
