/**
 * Waits at a session URL for the word that the call has lost the process that had it. The service knows that at once; a client that
 * is told nothing notices the silence of the line almost a second later.
 */
const WAIT_S = 25;
/** A service that answers sooner does not know how to wait. */
const SOON_MS = 5_000;

export async function pollForLoss(
  session: string,
  { token, signal, lost }: { token: string | undefined; signal: AbortSignal; lost: () => void },
): Promise<void> {
  const headers = {
    Prefer: `wait=${WAIT_S}`,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  try {
    for (let askedAt = -SOON_MS; performance.now() - askedAt >= SOON_MS;) {
      askedAt = performance.now();
      const { status } = await fetch(session, { headers, cache: 'no-store', signal });
      if (status === 200) lost();
      if (status !== 204) return;
    }
  } catch (error) {
    if (!signal.aborted)
      console.debug('the service does not tell when the call has to be gone on with', error);
  }
}
