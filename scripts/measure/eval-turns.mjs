// `npm run eval:turns`: replays recordings through the real inference process and counts how turns end. See docs/eval-turns.md.
import { runDriver } from './driver.mjs';

const usage = `usage: npm run eval:turns [-- FOLDER...] [--model FILE] [--only PART,...] [--sample N] [--curve] [--realtime] [--ratchet FILE [--note]]

Folders hold WAV files, one turn of a caller each, with their words in a text file of the same name. Without one, and beside them, SVC_TEST_ASSETS names the folder of
recordings of the tests. PART is one of turns, natural, interruptions, spoken, digits, strings, background, laughter, nods, ducking, hesitation, noise (never by itself), evidence, which says frame by frame what the noise model knows, or words, which counts errors of a real recogniser where SVC_REAL_EAR names one; N is how many scenarios of each kind are drawn, or callers of each half, always the same ones.
With --curve the service decides with other silences as well, so that cut-offs stand over latency. With --realtime an agent with a speaking model has a row, too. The turn model is FILE, else the one that the service would run. With --ratchet what went wrong is compared with what FILE says of an earlier replay of the same parts and sample, no other rows are played, and
the exit status is 1 where a row is worse by more than chance explains; with --note it is written there.`;

await runDriver('eval-turns', { usage });
