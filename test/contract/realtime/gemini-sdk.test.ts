/**
 * The vendor's own client talks to the fake of Gemini Live, and says in its own words what the adapter says: both must put the same on the wire.
 */
import {
  ActivityHandling,
  Behavior,
  GoogleGenAI,
  Modality,
  TurnCoverage,
  Type,
  type LiveClientMessage,
  type LiveConnectConfig,
  type LiveServerMessage,
  type Session,
} from '@google/genai';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeGeminiLive } from '../../support/fakes/fake-gemini-live.ts';
import { Observed } from '../../support/process/observed.ts';
import { lookUp, older, readyGemini, speak, voice, wordsOf } from './gemini-session.ts';

let server: FakeGeminiLive;
beforeEach(async () => {
  server = new FakeGeminiLive({ takesContent: true });
  await server.start();
});
afterEach(() => server.close());

const config: LiveConnectConfig = {
  responseModalities: [Modality.AUDIO],
  temperature: 0.5,
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  tools: [
    {
      functionDeclarations: [
        {
          name: 'look_up',
          description: 'Looks up.',
          parameters: { type: Type.OBJECT, properties: { id: { type: Type.INTEGER } }, required: ['id'] },
          behavior: Behavior.BLOCKING,
        },
      ],
    },
  ],
  realtimeInputConfig: {
    automaticActivityDetection: { disabled: true },
    activityHandling: ActivityHandling.START_OF_ACTIVITY_INTERRUPTS,
    turnCoverage: TurnCoverage.TURN_INCLUDES_ONLY_ACTIVITY,
  },
  inputAudioTranscription: { languageCodes: ['en-US'] },
  outputAudioTranscription: { languageCodes: ['en-US'] },
  sessionResumption: {},
  contextWindowCompression: { slidingWindow: {} },
};

interface OfVendor {
  readonly session: Session;
  readonly messages: LiveServerMessage[];
  readonly seen: Observed;
}

async function openVendor(given: LiveConnectConfig = config): Promise<OfVendor> {
  const client = new GoogleGenAI({ apiKey: 'key-1', httpOptions: { baseUrl: `http://${server.host}` } });
  const messages: LiveServerMessage[] = [];
  const seen = new Observed();
  const session = await client.live.connect({
    model: 'gemini-3.8-live',
    config: given,
    callbacks: {
      onmessage: (message) => {
        messages.push(message);
        seen.changed();
      },
    },
  });
  return { session, messages, seen };
}

/** Sound differs in how it is cut. */
const said = (): LiveClientMessage[] => server.last.heard.slice(1);

it('holds an exchange with the client', async () => {
  const { session, messages, seen } = await openVendor();
  server.replies.push(
    { heard: 'Where is it?', calls: [{ id: 'fc_1', name: 'look_up', args: { id: 1 } }] },
    { speech: 'At sea.', usage: { promptTokenCount: 3, responseTokenCount: 4 } },
  );
  session.sendRealtimeInput({ activityStart: {} });
  session.sendRealtimeInput({
    audio: { mimeType: 'audio/pcm;rate=16000', data: Buffer.from(voice(300).buffer).toString('base64') },
  });
  session.sendRealtimeInput({ activityEnd: {} });
  await seen.until(() => messages.some(({ toolCall }) => toolCall !== undefined));
  session.sendToolResponse({
    functionResponses: [{ id: 'fc_1', name: 'look_up', response: { output: 'at sea' } }],
  });
  await seen.until(() => messages.some(({ usageMetadata }) => usageMetadata !== undefined));
  const text = messages.map(({ serverContent }) => serverContent?.outputTranscription?.text ?? '').join('');
  expect(text).toBe('At sea.');
  expect(messages.filter(({ data }) => data !== undefined)).toHaveLength(2);
  expect(server.last.activities).toEqual([4_800]);
  session.close();
});

it('hears the same setup from the client and from the adapter', async () => {
  const { session } = await openVendor();
  const ofVendor = server.last.setup;
  session.close();
  const own = await readyGemini(server, { voice: 'Kore', temperature: 0.5 }, { tools: [lookUp] });
  expect(server.last.setup).toEqual(ofVendor);
  own.session.close();
});

it('hears the same setup for a session that is gone on with', async () => {
  server.handles.add('h1');
  const resumed = await openVendor({ ...config, tools: [], sessionResumption: { handle: 'h1' } });
  const ofVendor = server.last.setup;
  resumed.session.close();
  await server.until(() => server.last.closed !== undefined);
  const own = await readyGemini(server, { voice: 'Kore', temperature: 0.5 }, { resume: 'h1' });
  expect({ tools: [], ...server.last.setup }).toEqual(ofVendor);
  own.session.close();
});

it('hears the same turns, texts, contents and results', async () => {
  const { session, seen, messages } = await openVendor();
  const calls = [{ id: 'fc_1', name: 'look_up', args: { id: 1 } }];
  server.replies.push({ calls });
  session.sendRealtimeInput({ activityStart: {} });
  session.sendRealtimeInput({ text: 'Ada calls.' });
  session.sendRealtimeInput({ activityEnd: {} });
  await seen.until(() => messages.some(({ toolCall }) => toolCall !== undefined));
  session.sendToolResponse({
    functionResponses: [{ id: 'fc_1', name: 'look_up', response: { output: 'x' } }],
  });
  session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'Go on.' }] }], turnComplete: true });
  await server.heard(6);
  const ofVendor = said();
  session.close();

  const own = await readyGemini(server, older, { tools: [lookUp] });
  server.replies.push({ calls }, { speech: 'Done.' });
  own.session.append([{ role: 'user', text: 'Ada calls.' }]);
  speak(own.session, 1);
  await own.events.seen('tool-call');
  own.session.append([{ role: 'tool', callId: 'fc_1', name: 'look_up', text: 'x' }]);
  own.session.respond(2);
  await own.events.seen('done', 2);
  own.session.append([{ role: 'user', text: 'Go on.' }]);
  own.session.respond(3);
  await server.heard(6);
  expect(wordsOf(own.events, 2)).toBe('Done.');
  expect(said()).toEqual(ofVendor);
});
