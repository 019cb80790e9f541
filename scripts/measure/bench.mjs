// `npm run bench`: holds many calls on the service as it is built for production and says what they cost. See docs/bench.md.
import { runDriver } from './driver.mjs';

const usage = `usage: npm run bench -- [options]
  --calls N        concurrent calls (100; 60 in a soak); several numbers, as in 1,5,10,100, are held one after the other
  --seconds N      length of the measured window (60)
  --workers N      call workers of the service (auto: one for each core)
  --rate HZ        sample rate of the calls (16000)
  --encoding E     pcm16 or mulaw (pcm16)
  --transport carrier_a  calls over media streams of carrier A, mulaw at 8000, in place of websocket
  --set NAME=VALUE a variable of the service; may be given several times. SVC_SMART_TURN_MODEL=FILE: with a turn model (none)
  --observed       every call is recorded, with sound, transcript and facts, and traced to a collector of the bench
  --linked         every call has a link to an agent process of the bench, which reacts to each turn
  --realtime       a model hears and speaks by itself, in place of the three stages; their figures stand beside its own
  --noise MODE     noise is taken out before voice is looked for: on, auto, off (off)
  --calls-db       the calls are held twice, the second time with records of them in SQLite, and what that costs is printed
  --floor          the same callers on a server that only sends their frames back: how many times that does a call cost?
  --kept FILE      with --floor: say what has changed by more than a tenth since its figures were noted there; --note notes them
  --find-max       raise the number of calls until the floor is not kept any more
  --profile DIR    write CPU profiles of the service's processes, and show where the time goes
  --json           print the figures as one JSON object
instead of holding calls for a while:
  --soak N         N short calls, --calls at a time: what do they leave behind?
  --warm-up N      calls of a soak before the first look that counts (a quarter)
  --overload       --calls calls are all that is allowed, and more keep asking: how fast are they refused?
  --interruptions  callers speak, hum and cough into the demo's greeting: how soon does it fall silent, and what is lost?
  --rounds N       so many rounds of it (1)
  --voices FOLDER  with voices of your own instead: listening-*.wav must cut nothing, telling-*.wav must cut
  --only TEXT      only what has these words in its name, such as "that echo"; repeatable
  --calls-list N   how fast a database with N calls lists them; SQLite, or with --database ADDRESS an empty one of PostgreSQL
  --agents N       N agents in one service: what do a start, the memory and a changed file cost, and do the calls notice?
  --agent-link     what a link to an agent process adds between an event and the socket, without a service
  --restart        calls run while the service is restarted and then stopped: does anybody notice?
  --transport sip  calls over SIP: how soon are they answered, what do they hear? In a build with SVC_BUILD_WITH=sip
  --transport webrtc  calls over WebRTC with Opus: how many for each core, how evenly? With --soak N: short ones, and what they leave
                   with --interruptions: how soon is the loudspeaker silent? With --chromium as well: that of a browser
  --kill-worker    of either, and a worker is killed: do they go on?
  --restart        with --transport sip: the service is restarted, and not stopped: do they go on?
SVC_TEST_ASSETS names a folder with recordings (audio/speech/*.wav); without it the demo's voice speaks.`;

const { argv, env } = process;
// Calls over SIP need a build that has it.
if (argv[argv.indexOf('--transport') + 1] === 'sip') env.SVC_BUILD_WITH ??= 'sip';
await runDriver('bench', { usage, processes: ['load', 'providers', 'echo-server'] });
