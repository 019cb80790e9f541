/** `caller_identity` (docs/reference/agent-file.md, `[agent_link]`): whose numbers an agent process is told, and whose it is not. */
import { describe, expect, it } from 'vitest';
import { callerOf, saidOf, signedOf } from '../../../worker/agent-link/caller-identity.ts';

const claimed = { from: '+15550100001', to: '+15550100002' };
const ofCarrier = (transport: string) => ({
  'session.transport': transport,
  'session.carrier_call_id': 'CA1',
  ...claimed,
});
const ofTrunk = {
  'session.transport': 'sip',
  'session.carrier_call_id': 'a@b',
  'session.from': '+15550100003',
  'session.to': '200',
};

describe('caller_identity', () => {
  it.each([
    ['carrier A', ofCarrier('carrier_a'), { carrier: 'carrier_a', ...claimed, carrier_call_id: 'CA1' }],
    ['carrier B', ofCarrier('carrier_b'), { carrier: 'carrier_b', ...claimed, carrier_call_id: 'CA1' }],
    ['SIP', ofTrunk, { carrier: 'sip', from: '+15550100003', to: '200', carrier_call_id: 'a@b' }],
    [
      'SIP, whatever its metadata claim',
      { ...ofTrunk, ...claimed },
      { carrier: 'sip', from: '+15550100003', to: '200', carrier_call_id: 'a@b' },
    ],
    [
      'a carrier that says no numbers',
      { 'session.transport': 'carrier_a' },
      { carrier: 'carrier_a', carrier_call_id: 'own' },
    ],
  ])('is sent for calls of %s', (_, metadata, wanted) => {
    expect(callerOf({ callId: 'own', metadata }, { showsNumbers: true })).toEqual(wanted);
  });

  it.each([
    ['WebSocket and RTVI', claimed],
    ['WebRTC', { 'session.transport': 'webrtc', ...claimed }],
  ])('is not sent for calls of %s, whatever the client claims', (_, metadata) => {
    expect(callerOf({ callId: 'own', metadata }, { showsNumbers: true })).toBeUndefined();
  });

  it.each([ofCarrier('carrier_a'), ofCarrier('carrier_b'), ofTrunk])(
    'holds no number while the server redacts them: %o',
    (metadata) => {
      expect(callerOf({ callId: 'own', metadata }, { showsNumbers: false })).toEqual({
        carrier: metadata['session.transport'],
        carrier_call_id: metadata['session.carrier_call_id'],
      });
    },
  );
});

describe('metadata of session.start', () => {
  it('is what the client brought, and nothing that the server says', () => {
    const own = { agent_route: 'a', name: 'Ann', from: 'me' };
    const server = { session_id: 's', 'session.agent': 'x', 'session.meta.k': 'v', sample_rate: '16000' };
    expect(saidOf({ ...own, ...server })).toEqual(own);
    expect(saidOf(server)).toBeUndefined();
  });

  it.each([ofCarrier('carrier_a'), ofCarrier('carrier_b'), ofTrunk])(
    'holds no number of a caller, which belongs into call: %o',
    (metadata) => {
      expect(saidOf(metadata)).toBeUndefined();
      expect(saidOf({ ...metadata, agent_route: 'a' })).toEqual({ agent_route: 'a' });
    },
  );
});

describe('session of session.start', () => {
  it('is what the token says, without a token nothing', () => {
    expect(signedOf({ agent_route: 'a' })).toBeUndefined();
    expect(signedOf({ session_id: 's', name: 'Ann' })).toEqual({ sid: 's' });
    expect(signedOf({ session_id: 's', 'session.agent': 'a', 'session.meta.x.y': '1' })).toEqual({
      sid: 's',
      agent: 'a',
      meta: { 'x.y': '1' },
    });
  });
});
