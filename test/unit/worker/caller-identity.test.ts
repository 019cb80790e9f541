/** Spec 02, caller_identity: whose numbers an agent process is told, and whose it is not. */
import { describe, expect, it } from 'vitest';
import { callerOf } from '../../../worker/agent-link/caller-identity.ts';

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
    ['carrier A', ofCarrier('carrier_a'), { ...claimed, carrier_call_id: 'CA1' }],
    ['carrier B', ofCarrier('carrier_b'), { ...claimed, carrier_call_id: 'CA1' }],
    ['SIP', ofTrunk, { from: '+15550100003', to: '200', carrier_call_id: 'a@b' }],
    [
      'SIP, whatever its metadata claim',
      { ...ofTrunk, ...claimed },
      { from: '+15550100003', to: '200', carrier_call_id: 'a@b' },
    ],
    ['a carrier that says no numbers', { 'session.transport': 'carrier_a' }, { carrier_call_id: 'own' }],
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
        carrier_call_id: metadata['session.carrier_call_id'],
      });
    },
  );
});
