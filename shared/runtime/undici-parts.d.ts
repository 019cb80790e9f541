/** Types of the parts of undici that shared/runtime/undici.ts takes: the package types its entry alone. */
declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent as Whole } from 'undici';
  const Agent: typeof Whole;
  type Agent = Whole;
  export = Agent;
}
declare module 'undici/lib/api/api-request.js' {
  import type { Agent } from 'undici';
  const request: Agent['request'];
  export = request;
}
declare module 'undici/lib/core/connect.js' {
  import type { buildConnector as whole } from 'undici';
  const buildConnector: typeof whole;
  export = buildConnector;
}
declare module 'undici/lib/core/errors.js' {
  import type { errors as whole } from 'undici';
  const errors: typeof whole;
  export = errors;
}
