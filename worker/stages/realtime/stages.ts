/** A model that hears and speaks by itself as the three stages of an agent. */
import type { StageContext } from '../stage.ts';
import { RealtimeCall } from './call.ts';
import type { Cascade, RealtimeCallOptions } from './options.ts';

/** The three stages of calls with such a model; those of one call share a session, and are known by what the call lends to them. */
export function realtimeStages(options: Omit<RealtimeCallOptions, 'context'>): Cascade {
  const calls = new WeakMap<StageContext, RealtimeCall>();
  const callOf = (context: StageContext): RealtimeCall => {
    const call = calls.get(context) ?? new RealtimeCall({ ...options, context });
    calls.set(context, call);
    return call;
  };
  const { cascade, vendor } = options;
  const model = vendor.primary.stage;
  return {
    stt: {
      provider: cascade.stt.provider,
      open: (context, sink) => callOf(context).openStt(sink),
      close: () => cascade.stt.close(),
    },
    llm: {
      provider: model.provider,
      open: (context, call) => callOf(context).openLlm(call),
      close: async () => {
        await Promise.all([model.close(), cascade.llm.close()]);
      },
    },
    tts: {
      provider: cascade.tts.provider,
      open: (context, sink) => callOf(context).openTts(sink),
      close: () => cascade.tts.close(),
    },
  };
}
