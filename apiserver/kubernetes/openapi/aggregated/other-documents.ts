import type { GroupVersion } from '../../../../shared/object/object';

/** What another server says of one of its group versions. */
export interface OtherDocument extends GroupVersion {
  /** Of its APIService. */
  readonly name: string;
  readonly groupPriorityMinimum: number;
  /** What {@link readSwagger} made of its document of v2, as JSON. */
  readonly swagger: Buffer;
  /** Its own document of v3 of the group version; absent: it has none. */
  readonly part: Buffer | undefined;
}

/** The documents of servers behind this one, as they were last read. */
export class OtherDocuments {
  readonly #byName = new Map<string, OtherDocument>();
  #current: readonly OtherDocument[] = [];

  /** In the order of their groups in discovery. The same list as long as nothing has changed. */
  current(): readonly OtherDocument[] {
    return this.#current;
  }

  put(document: OtherDocument): void {
    this.#byName.set(document.name, document);
    this.#changed();
  }

  drop(name: string): void {
    if (this.#byName.delete(name)) this.#changed();
  }

  keepOnly(names: ReadonlySet<string>): void {
    const gone = [...this.#byName.keys()].filter((name) => !names.has(name));
    if (gone.length === 0) return;
    for (const name of gone) this.#byName.delete(name);
    this.#changed();
  }

  #changed(): void {
    this.#current = [...this.#byName.values()].toSorted(
      (a, b) => b.groupPriorityMinimum - a.groupPriorityMinimum || (a.name < b.name ? -1 : 1),
    );
  }
}
