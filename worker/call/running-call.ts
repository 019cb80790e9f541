/** What exists of a call once its `start` was accepted. */
import type { AdmittedStart } from './admission.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { SavedLink } from '../agent-link/link-state.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallState } from '../core/state.ts';
import type { CallAudio } from './audio.ts';
import type { CallLog } from './log.ts';
import type { CallObservers } from './observer.ts';
import type { CallControl } from '../telephony/call-control.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { OpenedTools } from '../tools/registry.ts';
import type { CallServices } from './services.ts';
import type { CallStages } from './stages.ts';
import type { CallToolRuns } from './tool-runs.ts';

export interface AdoptedAgent {
  readonly services: CallServices;
  /** Its version; absent in a service of one. */
  readonly ref: AgentRef | undefined;
  readonly tools: OpenedTools;
}

export interface RunningCall {
  readonly start: AdmittedStart;
  readonly state: CallState;
  readonly stages: CallStages;
  readonly audio: CallAudio;
  readonly tools: CallToolRuns;
  readonly control: CallControl;
  readonly startedAt: Millis;
  readonly log: CallLog;
  readonly observers: CallObservers;
  /** Turns that were answered. */
  readonly turns: number;
  /** What another worker needs to go on with the call's agent link; absent: it has none. */
  readonly link: SavedLink | undefined;
  /** Another agent has the call from here on. @throws what opening its sessions throws. */
  readonly adopt: (agent: AdoptedAgent) => void;
  /** Another node of its flow has these services. Gives what the core is to be told. @throws as `adopt` does. */
  readonly change: (services: CallServices) => Extract<CallEvent, { type: 'node.equipped' }>;
}
