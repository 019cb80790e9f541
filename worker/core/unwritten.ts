/** What stands for the words of a turn that come later, or never: an STT that gives this as a transcript means such a turn. */
export const unwritten = 'spoken words that are not written down yet';
