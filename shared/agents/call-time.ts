/** When a call began, in words of its agent's language and in the time of the agent's place. */

/** Whether the runtime knows the time zone. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** `Saturday, 28 November 2026 at 09:14`: with the weekday, which models get wrong by themselves. */
export function callTime(
  unixMs: number,
  { language, timezone }: { readonly language: string; readonly timezone: string },
): string {
  // American English would write 9:14 AM.
  const locale = language === 'en' ? 'en-GB' : language;
  const form = { dateStyle: 'full', timeStyle: 'short', timeZone: timezone } as const;
  return new Intl.DateTimeFormat(locale, form).format(unixMs);
}
