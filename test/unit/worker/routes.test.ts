/** Which agent process a call reaches: what was signed stands above what a client says, at every way in. */
import { describe, expect, it } from 'vitest';
import { callMetadata } from '../../../shared/protocol/call.ts';
import { signedMetadata } from '../../../supervisor/admission/credentials.ts';
import type { SessionClaims } from '../../../shared/auth/token-payload.ts';
import { newRouteOf } from '../../../worker/agent-link/routes.ts';

const routes = new Map([
  ['acme', { signed: true }],
  ['other', { signed: true }],
  ['open', { signed: false }],
]);
const led = (route?: string) => ({ kind: 'led', ...(route !== undefined && { route }) });
const refused = (named: string) => ({ kind: 'refused', named });

function routed(metadata: Readonly<Record<string, string>>) {
  const unknown: string[] = [];
  const where = newRouteOf(routes, (_, named) => unknown.push(named))({ callId: 'c', metadata });
  return unknown.length === 0 ? where : { ...where, unknown };
}

/** Metadata of a WebSocket call. */
const ofClient = (
  said: Readonly<Record<string, string>>,
  claims?: { readonly agent?: string; readonly meta?: Readonly<Record<string, string>> },
) => {
  const signed =
    claims === undefined
      ? { 'session.transport': 'webrtc-ws' }
      : signedMetadata({
          ...{ sid: 's', exp: 1, nbf: 0, agent: claims.agent, maxS: undefined },
          meta: new Map(Object.entries(claims.meta ?? {})),
        } as unknown as SessionClaims);
  const start = { callId: 'c', sampleRate: 16_000, encoding: 'pcm16', metadata: said, events: [] } as const;
  return callMetadata(start, signed);
};

const ofCarrier = (transport: string, said: Readonly<Record<string, string>>) => ({
  ...said,
  'session.transport': transport,
  'session.carrier_call_id': 'CA1',
});

describe('a client that no token leads', () => {
  it('chooses among the routes that allow it', () => {
    expect(routed(ofClient({ agent_route: 'open' }))).toEqual(led('open'));
    expect(routed(ofClient({}))).toEqual(led());
    expect(routed(ofClient({ agent_route: '' }))).toEqual(led());
  });

  it('reaches the default process by a name that is no route', () => {
    expect(routed(ofClient({ agent_route: 'nobody' }))).toEqual({ ...led(), unknown: ['nobody'] });
    expect(routed(ofClient({ agent_route: 'constructor' }))).toEqual({ ...led(), unknown: ['constructor'] });
  });

  it('is refused by a route that demands a signed word', () => {
    expect(routed(ofClient({ agent_route: 'other' }))).toEqual(refused('other'));
  });

  it.each(['session.meta.agent_route', 'session.agent', 'session.carrier_call_id'])(
    'cannot sign by %s of its own metadata',
    (key) => {
      expect(routed(ofClient({ [key]: 'other', agent_route: 'other' }))).toEqual(refused('other'));
    },
  );

  it('is refused with a token that names no route', () => {
    expect(routed(ofClient({ agent_route: 'other' }, {}))).toEqual(refused('other'));
    expect(routed(ofClient({ agent_route: 'other' }, { agent: 'nobody' }))).toEqual(refused('other'));
    expect(routed(ofClient({ agent_route: 'open' }, { agent: 'nobody' }))).toEqual(led('open'));
  });
});

describe('a token that names a route', () => {
  it.each(['other', 'open', 'nobody', ''])('leads there although the client says %j', (said) => {
    expect(routed(ofClient({ agent_route: said }, { agent: 'acme' }))).toEqual(led('acme'));
    expect(routed(ofClient({ agent_route: said }, { meta: { agent_route: 'acme' } }))).toEqual(led('acme'));
  });

  it('leads there where the client says nothing, as one by WebRTC cannot', () => {
    expect(routed(ofClient({}, { agent: 'acme' }))).toEqual(led('acme'));
  });

  it('means what meta says where agent names another one', () => {
    expect(routed(ofClient({}, { agent: 'acme', meta: { agent_route: 'open' } }))).toEqual(led('open'));
  });

  it('leads to the default process, and not where the client wants, by a name that is no route any more', () => {
    const metadata = ofClient({ agent_route: 'open' }, { meta: { agent_route: 'gone' } });
    expect(routed(metadata)).toEqual({ ...led(), unknown: ['gone'] });
    expect(routed(ofClient({ agent_route: 'open' }, { meta: { agent_route: '' } }))).toEqual(led());
  });
});

describe('a telephone call', () => {
  it.each(['carrier_a', 'carrier_b', 'sip'])(
    'of %s goes where the operator sent it, as a signed word',
    (transport) => {
      expect(routed(ofCarrier(transport, { agent_route: 'acme' }))).toEqual(led('acme'));
      expect(routed(ofCarrier(transport, {}))).toEqual(led());
    },
  );

  it('whose address was not made for one call is vouched for by nobody', () => {
    const metadata = { agent_route: 'acme', 'session.transport': 'carrier_a' };
    expect(routed(metadata)).toEqual(refused('acme'));
    expect(routed({ ...metadata, agent_route: 'open' })).toEqual(led('open'));
  });
});
