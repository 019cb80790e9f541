/**
 * What the Python SDK has from the service's own code: its view of the wire, and what its tests measure it by: every message, limit and code
 * of the agent link, and session tokens with the arguments they were made of.
 */
import * as z from 'zod';
import { mintSessionToken, type MintClaims } from '../../shared/auth/mint.ts';
import { agentMessageSchemas } from '../../shared/agent-link/agent-messages.ts';
import { agentLinkCloseCodes, agentLinkErrors } from '../../shared/agent-link/errors.ts';
import { alwaysSentEvents, conversationEventSchemas } from '../../shared/agent-link/events.ts';
import {
  AGENT_LINK_PROTOCOL,
  agentLinkLimits,
  agentLinkTimes,
  agentLinkVersions,
} from '../../shared/agent-link/limits.ts';
import { serviceMessageSchemas } from '../../shared/agent-link/service-messages.ts';
import { pythonWireTypes } from './python-types.ts';

const schemasOf = (schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): object =>
  Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => {
      const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
      return [type, rest];
    }),
  );

function wireSchema(): object {
  return {
    protocol: AGENT_LINK_PROTOCOL,
    versions: agentLinkVersions,
    limits: agentLinkLimits,
    times: agentLinkTimes,
    errors: agentLinkErrors,
    close_codes: agentLinkCloseCodes,
    events: Object.keys(conversationEventSchemas),
    always_sent: alwaysSentEvents,
    service: schemasOf(serviceMessageSchemas, 'output'),
    agent: schemasOf(agentMessageSchemas, 'input'),
  };
}

const secret = 'current-secret-of-at-least-32-bytes!';
const nowS = 1_800_000_000;

interface Case {
  readonly claims?: Partial<MintClaims>;
  readonly secret?: string;
  readonly nowS?: number;
}

const longText = (bytes: number): string => 'x'.repeat(bytes);
const metaOf = (entries: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: entries }, (_, index) => [`key-${index}`, longText(200)]));

const cases: Readonly<Record<string, Case>> = {
  'only what is required': {},
  'another listener': { claims: { aud: 'svc-rtvi' } },
  'every field': {
    claims: {
      aud: 'svc-webrtc',
      ttlS: 120,
      nbfS: nowS - 10,
      agent: 'front-desk',
      maxS: 600,
      meta: { plan: 'gold', seats: 4, share: 0.5, vip: true, guest: false },
    },
  },
  'text beyond ASCII': {
    claims: { sid: 'Anruf-ä-話-😀', agent: 'réception', meta: { née: '"quoted" \\ / \u2028' } },
  },
  'a secret beyond ASCII': { secret: 'ein Geheimnis mit Umlauten: äöüß' },
  'the longest sid': { claims: { sid: longText(128) } },
  'no sid': { claims: { sid: '' } },
  'a sid that is too long': { claims: { sid: `${longText(127)}ä` } },
  'a sid with a control character': { claims: { sid: 'call\u0085' } },
  'the longest life': { claims: { ttlS: 86_400 } },
  'a life that is too long': { claims: { ttlS: 86_401 } },
  'no life': { claims: { ttlS: 0 } },
  'half a second': { claims: { ttlS: 1.5 } },
  'a clock in milliseconds': { nowS: nowS * 1000 },
  'a clock that is no integer': { nowS: nowS + 0.5 },
  'a clock before 1970': { nowS: -1 },
  'a secret that is too short': { secret: longText(31) },
  'not before the end': { claims: { nbfS: nowS + 60 } },
  'a call of no length': { claims: { maxS: 0 } },
  'the longest call': { claims: { maxS: 86_400 } },
  'a call that is too long': { claims: { maxS: 86_401 } },
  'a call length that is no integer': { claims: { maxS: 1.5 } },
  'the most entries of meta': {
    claims: { meta: Object.fromEntries(Array.from('abcdefghijklmnop', (key) => [key, key])) },
  },
  'seventeen entries of meta': { claims: { meta: metaOf(17) } },
  'a key of meta that is too long': { claims: { meta: { [longText(65)]: 1 } } },
  'a value of meta that is too long': { claims: { meta: { note: longText(257) } } },
  'a token that is too large': { claims: { meta: metaOf(15) } },
};

function tokenVectors(): object {
  return Object.entries(cases).map(([name, given]) => {
    const claims: MintClaims = { aud: 'svc-ws', ttlS: 60, sid: 'call-1', ...given.claims };
    const options = { secret: given.secret ?? secret, nowS: given.nowS ?? nowS };
    const minted = mintSessionToken(claims, options);
    return {
      name,
      secret: options.secret,
      arguments: {
        audience: claims.aud,
        ttl_s: claims.ttlS,
        session_id: claims.sid,
        not_before_s: claims.nbfS,
        agent: claims.agent,
        max_call_s: claims.maxS,
        meta: claims.meta,
        now_s: options.nowS,
      },
      ...(minted.ok ? { token: minted.value } : { error: minted.error }),
    };
  });
}

const file = (name: string, content: object): { readonly path: string; readonly text: string } => ({
  path: `sdk/python/tests/${name}`,
  text: `${JSON.stringify(content, null, 2)}\n`,
});

export const pythonFiles = (): readonly { readonly path: string; readonly text: string }[] => [
  file('wire.schema.json', wireSchema()),
  file('token-vectors.json', tokenVectors()),
  pythonWireTypes(),
];
