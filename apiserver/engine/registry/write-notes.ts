/** Whose note it is, and what it begins with. */
export interface Note<T> {
  readonly begin: () => T;
}

/** What is remembered of one write from one attempt to the next, or of one attempt from one pass to the next: each by who remembers it. */
export class WriteNotes {
  #notes: Map<unknown, unknown> | undefined;

  /** The same for every call with this note. */
  of<T>(note: Note<T>): T {
    const notes = (this.#notes ??= new Map());
    if (!notes.has(note)) notes.set(note, note.begin());
    return notes.get(note) as T;
  }
}
