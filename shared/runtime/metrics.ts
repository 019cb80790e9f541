/**
 * All metrics of the service in one table: names carry their unit, labels have closed sets of values. Each process
 * counts on its own; the supervisor adds them up for `/metrics`.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const turnBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const fallbackBuckets = [0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1];
const writeBuckets = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25];
const latenessBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];

export interface WorkerMetrics {
  readonly registry: Registry;
  readonly callsActive: Gauge;
  readonly callsEnded: Counter<'end'>;
  readonly turnPart: Histogram<'part'>;
  readonly frameLateness: Histogram;
  readonly framesSent: Counter;
  readonly underruns: Counter;
  readonly interruptions: Counter;
  readonly stageFaults: Counter<'stage' | 'what'>;
  readonly protocolErrors: Counter<'code'>;
  readonly energyFrames: Counter;
  readonly vadFallback: Histogram;
  readonly agentLinks: Counter<'what'>;
  readonly agentHop: Histogram;
  readonly agentWrite: Histogram;
  readonly recordings: Counter<'what'>;
  readonly recordingLost: Counter<'what'>;
  readonly spans: Counter<'what'>;
  readonly webrtc: WebrtcMetrics;
  readonly providerFirstResult: Histogram<ProviderLabel>;
  readonly providerErrors: Counter<ProviderLabel | 'kind' | 'status'>;
  readonly providerUnits: Counter<ProviderLabel | 'unit'>;
  readonly providerFailovers: Counter<'stage' | 'reason'>;
}

/** Stage, whether primary or secondary, and the provider's canonical name. */
type ProviderLabel = 'stage' | 'role' | 'provider';
const providerLabels = ['stage', 'role', 'provider'] as const;

/** What a worker counts about providers. */
function newProviderMetrics(
  registers: Registry[],
): Pick<WorkerMetrics, 'providerFirstResult' | 'providerErrors' | 'providerUnits' | 'providerFailovers'> {
  return {
    providerFirstResult: new Histogram({
      name: 'svc_provider_first_result_seconds',
      help: 'From asking a provider to the first of its answer: final words, text or tool call, audio',
      labelNames: providerLabels,
      buckets: turnBuckets,
      registers,
    }),
    providerErrors: new Counter({
      name: 'svc_provider_errors_total',
      help: 'Failures of providers, by kind and, for refusals, by status',
      labelNames: [...providerLabels, 'kind', 'status'],
      registers,
    }),
    providerUnits: new Counter({
      name: 'svc_provider_units_total',
      help: 'What providers charge for: tokens, seconds of audio sent to STT, characters sent to TTS',
      labelNames: [...providerLabels, 'unit'],
      registers,
    }),
    providerFailovers: new Counter({
      name: 'svc_provider_failovers_total',
      help: 'Times another provider was used than the one that comes first, by reason',
      labelNames: ['stage', 'reason'],
      registers,
    }),
  };
}

/** What a worker counts about agent processes. */
const newAgentMetrics = (
  registers: Registry[],
): Pick<WorkerMetrics, 'agentLinks' | 'agentHop' | 'agentWrite'> => ({
  agentLinks: new Counter({
    name: 'svc_agent_links_total',
    help: 'Links to agent processes: active, fallback without one, broken, resumed, gone for good, slowed because it sends too much',
    labelNames: ['what'],
    registers,
  }),
  agentHop: new Histogram({
    name: 'svc_agent_hop_seconds',
    help: 'From writing an event to an agent process to its command that reacts to it',
    buckets: turnBuckets,
    registers,
  }),
  agentWrite: new Histogram({
    name: 'svc_agent_write_seconds',
    help: 'From an event of a call until the kernel has it on the connection to its agent process',
    buckets: writeBuckets,
    registers,
  }),
});

/** What a worker counts about recordings. */
const newRecordingMetrics = (registers: Registry[]): Pick<WorkerMetrics, 'recordings' | 'recordingLost'> => ({
  recordings: new Counter({
    name: 'svc_recordings_total',
    help: 'What became of recordings: finished, uploaded, deleted, deleted_unsent (before its upload), cut, failed, upload_failed',
    labelNames: ['what'],
    registers,
  }),
  recordingLost: new Counter({
    name: 'svc_recording_lost_total',
    help: 'Times that sound (audio) or lines of a running call found no room, or could not be written',
    labelNames: ['what'],
    registers,
  }),
});

/** What a worker counts about traces. */
const newTracingMetrics = (registers: Registry[]): Pick<WorkerMetrics, 'spans'> => ({
  spans: new Counter({
    name: 'svc_spans_total',
    help: 'Spans of traced calls: sent, not taken by the collector, no room while they waited for it',
    labelNames: ['what'],
    registers,
  }),
});

/** What a worker counts about media of WebRTC calls. */
export interface WebrtcMetrics {
  readonly packets: Counter<'what'>;
  readonly roundTrip: Histogram;
  readonly clientLoss: Histogram;
}

const newWebrtcMetrics = (registers: Registry[]): WebrtcMetrics => ({
  packets: new Counter({
    name: 'svc_webrtc_packets_total',
    help: 'Audio packets of WebRTC callers: received, come too late, come twice, concealed',
    labelNames: ['what'],
    registers,
  }),
  roundTrip: new Histogram({
    name: 'svc_webrtc_round_trip_seconds',
    help: 'Round trips to WebRTC clients, as their reports tell them',
    buckets: turnBuckets,
    registers,
  }),
  clientLoss: new Histogram({
    name: 'svc_webrtc_client_loss_ratio',
    help: 'Part of the bot audio that was lost on the way to a WebRTC client, from report to report',
    buckets: [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    registers,
  }),
});

export function newWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    callsActive: new Gauge({
      name: 'svc_calls_active',
      help: 'Calls that are connected',
      registers,
      aggregator: 'sum',
    }),
    callsEnded: new Counter({
      name: 'svc_calls_total',
      help: 'Calls that ended, by how',
      labelNames: ['end'],
      registers,
    }),
    turnPart: new Histogram({
      name: 'svc_turn_part_seconds',
      help: 'Parts of the time from the last voice of the caller to the first frame of the answer',
      labelNames: ['part'],
      buckets: turnBuckets,
      registers,
    }),
    frameLateness: new Histogram({
      name: 'svc_frame_lateness_seconds',
      help: 'How late frames of bot audio were handed to the transport',
      buckets: latenessBuckets,
      registers,
    }),
    framesSent: new Counter({ name: 'svc_frames_sent_total', help: 'Frames of bot audio sent', registers }),
    underruns: new Counter({
      name: 'svc_underruns_total',
      help: 'Times a response had no audio when a frame was due',
      registers,
    }),
    interruptions: new Counter({
      name: 'svc_interruptions_total',
      help: 'Responses that the caller cut',
      registers,
    }),
    stageFaults: new Counter({
      name: 'svc_stage_faults_total',
      help: 'Faults of provider stages, by stage and kind',
      labelNames: ['stage', 'what'],
      registers,
    }),
    protocolErrors: new Counter({
      name: 'svc_protocol_errors_total',
      help: 'Error messages sent to clients, by code',
      labelNames: ['code'],
      registers,
    }),
    energyFrames: new Counter({
      name: 'svc_vad_energy_frames_total',
      help: 'Frames judged by energy because inference was away',
      registers,
    }),
    vadFallback: new Histogram({
      name: 'svc_vad_fallback_seconds',
      help: 'From the last sign of life of inference to the first frame of a call that was judged by energy instead',
      buckets: fallbackBuckets,
      registers,
    }),
    ...newAgentMetrics(registers),
    ...{ ...newRecordingMetrics(registers), ...newTracingMetrics(registers) },
    webrtc: newWebrtcMetrics(registers),
    ...newProviderMetrics(registers),
  };
}

/** What waits for inference and what became of it, as the supervisor reads it from shared memory. */
interface InferenceMetrics {
  readonly inferenceUnread: Gauge;
  readonly inferenceWait: Gauge;
  readonly inferenceFrames: Gauge<'state'>;
  readonly turnWait: Gauge;
  readonly turnQuestions: Gauge<'state'>;
}

function newInferenceMetrics(registers: Registry[]): InferenceMetrics {
  return {
    inferenceWait: new Gauge({
      name: 'svc_inference_oldest_seconds',
      help: 'Age of the oldest audio that waits for voice activity detection',
      registers,
    }),
    inferenceUnread: new Gauge({
      name: 'svc_inference_unread_frames',
      help: 'Frames that wait in the fullest mailbox (32 ms each)',
      registers,
    }),
    inferenceFrames: new Gauge({
      name: 'svc_inference_frames',
      help: 'Frames judged by the VAD model, too quiet to need it, and left out as too old, since the service started',
      labelNames: ['state'],
      registers,
    }),
    turnWait: new Gauge({
      name: 'svc_turn_oldest_seconds',
      help: 'Age of the oldest question to the turn model that has no answer yet',
      registers,
    }),
    turnQuestions: new Gauge({
      name: 'svc_turn_questions',
      help: 'Questions to the turn model: waiting now; judged, and left out as too late, since the service started',
      labelNames: ['state'],
      registers,
    }),
  };
}

export interface SupervisorMetrics extends InferenceMetrics {
  readonly registry: Registry;
  readonly handovers: Counter<'outcome'>;
  readonly refusals: Counter<'reason'>;
  readonly tokens: Counter<'outcome'>;
  readonly restarts: Counter<'role'>;
  readonly carrierCommands: Counter<'carrier' | 'command' | 'outcome'>;
  readonly warmTransfers: Counter<'end'>;
  readonly outboundCalls: Counter<'carrier' | 'end'>;
  readonly sipRegistered: Gauge;
  readonly workersReady: Gauge;
  readonly inferenceUp: Gauge;
  readonly handoverWait: Gauge;
  readonly workerLateness: Gauge;
  readonly sessions: Gauge;
  readonly sessionsLimit: Gauge;
  readonly connections: Gauge;
  readonly providerBreaker: Gauge<ProviderLabel>;
  readonly providerBreakerOpened: Gauge<ProviderLabel>;
}

/** What calls asked of carriers, and whether they come. */
const newCarrierMetrics = (
  registers: Registry[],
): Pick<SupervisorMetrics, 'carrierCommands' | 'warmTransfers' | 'outboundCalls' | 'sipRegistered'> => ({
  carrierCommands: new Counter({
    name: 'svc_carrier_commands_total',
    help: 'What calls asked of their carriers, by what became of it',
    labelNames: ['carrier', 'command', 'outcome'],
    registers,
  }),
  outboundCalls: new Counter({
    name: 'svc_outbound_calls_total',
    help: 'Calls that the service made and that are over, by what became of them',
    labelNames: ['carrier', 'end'],
    registers,
  }),
  sipRegistered: new Gauge({
    name: 'svc_sip_registered',
    help: '1 while the account of SVC_SIP_REGISTER is registered; 0 also where there is none',
    registers,
  }),
  warmTransfers: new Counter({
    name: 'svc_warm_transfers_total',
    help: 'Warm transfers that are over: joined, back with the bot, gone, or refused',
    labelNames: ['end'],
    registers,
  }),
});

/** There from the start: of a counter that begins at 1 Prometheus sees no increase. */
function newRestarts(registers: Registry[]): Counter<'role'> {
  const restarts = new Counter({
    name: 'svc_restarts_total',
    help: 'Child processes replaced, by role',
    labelNames: ['role'],
    registers,
  });
  for (const role of ['worker', 'inference']) restarts.inc({ role }, 0);
  return restarts;
}

export function newSupervisorMetrics(): SupervisorMetrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    handovers: new Counter({
      name: 'svc_handovers_total',
      help: 'Connections given to workers',
      labelNames: ['outcome'],
      registers,
    }),
    refusals: new Counter({
      name: 'svc_refusals_total',
      help: 'Connections refused, by reason',
      labelNames: ['reason'],
      registers,
    }),
    tokens: new Counter({
      name: 'svc_tokens_total',
      help: 'Verified session tokens, by what became of them',
      labelNames: ['outcome'],
      registers,
    }),
    restarts: newRestarts(registers),
    ...newCarrierMetrics(registers),
    workersReady: new Gauge({ name: 'svc_workers_ready', help: 'Workers that take calls', registers }),
    inferenceUp: new Gauge({ name: 'svc_inference_up', help: '1 while inference answers', registers }),
    handoverWait: new Gauge({
      name: 'svc_handover_oldest_seconds',
      help: 'Age of the oldest connection that no worker has confirmed',
      registers,
    }),
    ...newInferenceMetrics(registers),
    workerLateness: new Gauge({ name: 'svc_worker_lateness_seconds', help: 'Worst late tick', registers }),
    sessions: new Gauge({ name: 'svc_sessions', help: 'Calls that have begun', registers }),
    sessionsLimit: new Gauge({
      name: 'svc_sessions_limit',
      help: 'Most calls at the same time (SVC_MAX_SESSIONS)',
      registers,
    }),
    connections: new Gauge({
      name: 'svc_connections',
      help: 'Connections of calls, those that have not begun among them',
      registers,
    }),
    providerBreaker: new Gauge({
      name: 'svc_provider_breaker_state',
      help: 'Circuit breaker of a provider: 0 closed, 1 half-open, 2 open',
      labelNames: providerLabels,
      registers,
    }),
    providerBreakerOpened: new Gauge({
      name: 'svc_provider_breaker_opened',
      help: 'Times the circuit breaker of a provider has opened since the service started',
      labelNames: providerLabels,
      registers,
    }),
  };
}
