/**
 * All metrics of the service in one table: names carry their unit, labels have closed sets of values. Each process
 * counts on its own; the supervisor adds them up for `/metrics`.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const turnBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const fallbackBuckets = [0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1];
const writeBuckets = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25];
const latenessBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];

/** Makes metrics of one registry. */
const makerIn = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter<L>({ name, help, labelNames, registers }),
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name, help, labelNames, registers }),
    histogram: <L extends string>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly L[] = [],
    ) => new Histogram<L>({ name, help, labelNames, buckets, registers }),
  };
};

type Maker = ReturnType<typeof makerIn>;

/** Stage, whether primary or secondary, and the provider's canonical name. */
const providerLabels = ['stage', 'role', 'provider'] as const;

/** What a worker counts about providers. */
const newProviderMetrics = ({ counter, histogram }: Maker) => ({
  providerFirstResult: histogram(
    'svc_provider_first_result_seconds',
    'From asking a provider to the first of its answer: final words, text or tool call, audio',
    turnBuckets,
    providerLabels,
  ),
  providerErrors: counter(
    'svc_provider_errors_total',
    'Failures of providers, by kind and, for refusals, by status',
    [...providerLabels, 'kind', 'status'],
  ),
  providerUnits: counter(
    'svc_provider_units_total',
    'What providers charge for: tokens, seconds of audio sent to STT and speaking models, characters sent to TTS',
    [...providerLabels, 'unit'],
  ),
  providerFailovers: counter(
    'svc_provider_failovers_total',
    'Times another provider was used than the one that comes first, by reason',
    ['stage', 'reason'],
  ),
});

/** What a worker counts about agent processes. */
const newAgentMetrics = ({ counter, histogram }: Maker) => ({
  agentLinks: counter(
    'svc_agent_links_total',
    'Links to agent processes: active, fallback without one, broken, resumed, gone for good, slowed because it sends too much',
    ['what'],
  ),
  beforeCalls: counter(
    'svc_before_calls_total',
    'Times that the server of [before_call] was asked, by what came of it: answered, failed (the call began without an answer), refused (it did not)',
    ['outcome'],
  ),
  beforeCallTime: histogram(
    'svc_before_call_seconds',
    'How long the server of [before_call] was waited for',
    turnBuckets,
  ),
  agentHop: histogram(
    'svc_agent_hop_seconds',
    'From writing an event to an agent process to its command that reacts to it',
    turnBuckets,
  ),
  agentWrite: histogram(
    'svc_agent_write_seconds',
    'From an event of a call until the kernel has it on the connection to its agent process',
    writeBuckets,
  ),
});

/** What a worker counts about recordings. */
const newRecordingMetrics = ({ counter }: Maker) => ({
  recordings: counter(
    'svc_recordings_total',
    'What became of recordings: finished, uploaded, deleted, deleted_unsent (before its upload), cut, failed, upload_failed',
    ['what'],
  ),
  recordingLost: counter(
    'svc_recording_lost_total',
    'Times that sound (audio) or lines of a running call found no room, or could not be written',
    ['what'],
  ),
});

/** What a worker counts about the records of calls. */
const newCallFactsMetrics = ({ counter }: Maker) => ({
  callFactsLost: counter(
    'svc_call_facts_lost_total',
    'Times that facts for the record of a call found no room, or had to wait because the disk did not take them (write)',
    ['what'],
  ),
});

/** What a worker counts about media of WebRTC calls. */
const newWebrtcMetrics = ({ counter, histogram }: Maker) => ({
  packets: counter(
    'svc_webrtc_packets_total',
    'Audio packets of WebRTC callers: received, come too late, come twice, concealed',
    ['what'],
  ),
  roundTrip: histogram(
    'svc_webrtc_round_trip_seconds',
    'Round trips to WebRTC clients, as their reports tell them',
    turnBuckets,
  ),
  clientLoss: histogram(
    'svc_webrtc_client_loss_ratio',
    'Part of the bot audio that was lost on the way to a WebRTC client, from report to report',
    [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  ),
});

export type WorkerMetrics = ReturnType<typeof newWorkerMetrics>;
export type WebrtcMetrics = WorkerMetrics['webrtc'];

/** What metrics call the agents of which there are too many for a name each. */
export const otherAgents = 'other';

/** Drops what is told of agents that have no name in metrics any more. */
export async function forgetAgents(
  { routeCalls }: Pick<WorkerMetrics, 'routeCalls'>,
  isNamed: (agent: string) => boolean,
): Promise<void> {
  const { values } = await routeCalls.get();
  for (const { labels } of values) {
    const { agent } = labels;
    if (agent !== otherAgents && !isNamed(String(agent))) routeCalls.remove(labels);
  }
}

export function newWorkerMetrics() {
  const registry = new Registry();
  const make = makerIn(registry);
  const { counter, gauge, histogram } = make;
  return {
    registry,
    callsActive: gauge('svc_calls_active', 'Calls that are connected'),
    callsEnded: counter('svc_calls_total', 'Calls that ended, by how', ['end']),
    routeCalls: counter(
      'svc_route_calls_total',
      'Calls that ended, by agent, by the route of the agent file that they went by (empty: none), and by how',
      ['agent', 'route', 'end'],
    ),
    turnPart: histogram(
      'svc_turn_part_seconds',
      'Parts of the time from the last voice of the caller to the first frame of the answer',
      turnBuckets,
      ['part'],
    ),
    frameLateness: histogram(
      'svc_frame_lateness_seconds',
      'How late frames of bot audio were handed to the transport',
      latenessBuckets,
    ),
    framesSent: counter('svc_frames_sent_total', 'Frames of bot audio sent'),
    underruns: counter('svc_underruns_total', 'Times a response had no audio when a frame was due'),
    interruptions: counter('svc_interruptions_total', 'Responses that the caller cut'),
    agentChoices: counter(
      'svc_agent_choices_total',
      'Calls of a service with many agents, by what chose their agent; unknown: they named one that is not there',
      ['by'],
    ),
    stageFaults: counter('svc_stage_faults_total', 'Faults of provider stages, by stage and kind', [
      'stage',
      'what',
    ]),
    coreRulesBroken: counter(
      'svc_core_rules_broken_total',
      'Steps after which the state of a call broke a rule of its own: a bug, please report it',
    ),
    protocolErrors: counter('svc_protocol_errors_total', 'Error messages sent to clients, by code', ['code']),
    energyFrames: counter(
      'svc_vad_energy_frames_total',
      'Frames judged by energy because inference was away',
    ),
    vadFallback: histogram(
      'svc_vad_fallback_seconds',
      'From the last sign of life of inference to the first frame of a call that was judged by energy instead',
      fallbackBuckets,
    ),
    ...newAgentMetrics(make),
    ...newRecordingMetrics(make),
    ...newCallFactsMetrics(make),
    spans: counter(
      'svc_spans_total',
      'Spans of traced calls: sent, not taken by the collector, no room while they waited for it',
      ['what'],
    ),
    webrtc: newWebrtcMetrics(make),
    ...newProviderMetrics(make),
  };
}

/** What waits for inference and what became of it, as the supervisor reads it from shared memory. */
const newInferenceMetrics = ({ gauge }: Maker) => ({
  inferenceWait: gauge(
    'svc_inference_oldest_seconds',
    'Age of the oldest audio that waits for voice activity detection',
  ),
  inferenceUnread: gauge(
    'svc_inference_unread_frames',
    'Frames that wait in the fullest mailbox (32 ms each)',
  ),
  inferenceFrames: gauge(
    'svc_inference_frames',
    'Frames judged by the VAD model, too quiet to need it, and left out as too old, since the service started; of those judged, those whose noise was taken out, and those where it was left although the agent wants it out',
    ['state'],
  ),
  turnWait: gauge(
    'svc_turn_oldest_seconds',
    'Age of the oldest question to the turn model that has no answer yet',
  ),
  turnQuestions: gauge(
    'svc_turn_questions',
    'Questions to the turn model: waiting now; judged, and left out as too late, since the service started',
    ['state'],
  ),
});

/** What calls asked of carriers, and whether they come. */
const newCarrierMetrics = ({ counter, gauge }: Maker) => ({
  carrierCommands: counter(
    'svc_carrier_commands_total',
    'What calls asked of their carriers, by what became of it',
    ['carrier', 'command', 'outcome'],
  ),
  outboundCalls: counter(
    'svc_outbound_calls_total',
    'Calls that the service made and that are over, by what became of them',
    ['carrier', 'end'],
  ),
  sipRegistered: gauge(
    'svc_sip_registered',
    '1 while the account of SVC_SIP_REGISTER is registered; 0 also where there is none',
  ),
  warmTransfers: counter(
    'svc_warm_transfers_total',
    'Warm transfers that are over: joined, back with the bot, gone, or refused',
    ['end'],
  ),
});

/** There from the start, as below. */
function newCallRecords({ counter, gauge }: Maker) {
  const callRecords = counter(
    'svc_call_records_total',
    'Records of calls: kept in the database, dropped because too many waited or nothing could be read of them',
    ['what'],
  );
  for (const what of ['kept', 'dropped']) callRecords.inc({ what }, 0);
  return {
    callRecords,
    callRecordsWaiting: gauge(
      'svc_call_records_waiting',
      'Calls that ended and wait on disk for the database',
    ),
    callRecordsWaitingBytes: gauge(
      'svc_call_records_waiting_bytes',
      'Size of what waits on disk for the database; SVC_CALLS_WAITING_MAX_MB bounds it',
    ),
    callRecordsOldest: gauge(
      'svc_call_records_oldest_seconds',
      'For how long the oldest of the calls that wait on disk has waited',
    ),
  };
}

/** There from the start: of a counter that begins at 1 Prometheus sees no increase. */
function newRestarts({ counter }: Maker) {
  const restarts = counter('svc_restarts_total', 'Child processes replaced, by role', ['role']);
  for (const role of ['worker', 'inference']) restarts.inc({ role }, 0);
  return restarts;
}

/**
 * Bounds of the service itself that something met: addresses whose offers are counted (what came beyond was let through), session ids that
 * are remembered, of SIP ports for audio, connections, requests under way, and bytes for peers that nobody knows, of carriers commands and
 * calls that are elsewhere, questions to other hosts, and what waits for the supervisor before this one.
 */
const limitNames = [
  'rate_table',
  'token_set',
  'sip_rtp_ports',
  'sip_connections',
  'sip_transactions',
  'sip_answers',
  'carrier_commands',
  'warm_transfers',
  'calls_away',
  'host_questions',
  'restart_requests',
] as const;
export type LimitName = (typeof limitNames)[number];

function newLimits({ counter }: Maker) {
  const limits = counter('svc_limits_reached_total', 'Times that a bound of the service was met, by which', [
    'limit',
  ]);
  for (const limit of limitNames) limits.inc({ limit }, 0);
  return limits;
}

export type SupervisorMetrics = ReturnType<typeof newSupervisorMetrics>;

export function newSupervisorMetrics() {
  const registry = new Registry();
  const make = makerIn(registry);
  const { counter, gauge } = make;
  return {
    registry,
    handovers: counter('svc_handovers_total', 'Connections given to workers', ['outcome']),
    refusals: counter('svc_refusals_total', 'Connections refused, by reason', ['reason']),
    tokens: counter('svc_tokens_total', 'Verified session tokens, by what became of them', ['outcome']),
    limits: newLimits(make),
    restarts: newRestarts(make),
    ...newCallRecords(make),
    ...newCarrierMetrics(make),
    workersReady: gauge('svc_workers_ready', 'Workers that take calls'),
    inferenceUp: gauge('svc_inference_up', '1 while inference answers'),
    handoverWait: gauge(
      'svc_handover_oldest_seconds',
      'Age of the oldest connection that no worker has confirmed',
    ),
    ...newInferenceMetrics(make),
    agents: gauge(
      'svc_agents',
      'Agents of a service with many: those in force, and files whose content is not',
      ['state'],
    ),
    agentCalls: gauge(
      'svc_agent_calls',
      'Calls that run, by agent: the busiest 50 have their names, the rest is other',
      ['agent'],
    ),
    agentRefusals: counter(
      'svc_agent_refusals_total',
      'Calls that were refused by [limits] of their agent or its tenant, by agent and limit',
      ['agent', 'limit'],
    ),
    agentChanges: counter('svc_agent_changes_total', 'Agents added, changed, removed, and files refused', [
      'what',
    ]),
    workerLateness: gauge('svc_worker_lateness_seconds', 'Worst late tick'),
    sessions: gauge('svc_sessions', 'Calls that have begun'),
    sessionsLimit: gauge('svc_sessions_limit', 'Most calls at the same time (SVC_MAX_SESSIONS)'),
    connections: gauge('svc_connections', 'Connections of calls, those that have not begun among them'),
    providerBreaker: gauge(
      'svc_provider_breaker_state',
      'Circuit breaker of a provider: 0 closed, 1 half-open, 2 open',
      providerLabels,
    ),
    providerBreakerOpened: gauge(
      'svc_provider_breaker_opened',
      'Times the circuit breaker of a provider has opened since the service started',
      providerLabels,
    ),
  };
}
