/** The key of a note, and its initial value. */
export interface Note<T> {
  readonly begin: () => T;
}

/** State that is kept between attempts of one write, or between passes of one attempt. */
export class WriteNotes {
  #notes: Map<unknown, unknown> | undefined;

  /** Returns the same value for every call with this note. */
  of<T>(note: Note<T>): T {
    const notes = (this.#notes ??= new Map());
    if (!notes.has(note)) notes.set(note, note.begin());
    return notes.get(note) as T;
  }
}
