/**
 * The parts of undici that the service uses: its connections to HTTP servers. The package's own entry loads ten times as much
 * (a browser's `fetch`, caches, mocks), which every worker would compile at its start. Nothing else imports undici but for its types.
 */
import Agent from 'undici/lib/dispatcher/agent.js';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';

// The package's entry does so with each of its ways to ask; this is the one that is used beside `dispatch`.
Object.assign(Agent.prototype, { request });

export { Agent, buildConnector, errors };
