/** Why the service takes no calls, in a sentence for people. `/readyz` and refusals have the names. */
const sentences: Readonly<Record<string, string>> = {
  starting: 'the service is still starting',
  draining: 'the service is stopping and lets its calls finish',
  sessions_full: 'all call slots are in use (SVC_MAX_SESSIONS)',
  calls_full: 'all connections of every listener are in use',
  hand_over_full: 'too many calls begin at the same moment',
  no_worker: 'no call worker is ready',
  inference_overloaded: 'speech detection is behind: the processor is too busy for the calls it has',
  workers_late: 'calls get their audio late: the processor is too busy for the calls it has',
  provider_budget: 'a provider of this agent has no budget left (SVC_PROVIDER_LIMITS)',
  token_set_full: 'no more used session tokens can be remembered',
  children_failing: 'a process of the service dies again and again',
  inference_silent: 'the process that detects speech does not answer',
};

export const sentenceOf = (reason: string): string => sentences[reason] ?? reason;
