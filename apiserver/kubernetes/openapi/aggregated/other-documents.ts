import type { GroupVersion } from '../../../../shared/object/object';

/** The documents of one group version of an extension API server. */
export interface OtherDocument extends GroupVersion {
  /** The name of its APIService. */
  readonly name: string;
  readonly groupPriorityMinimum: number;
  /** The result of {@link readSwagger} for its v2 document, as JSON. */
  readonly swagger: Buffer;
  /** Its own v3 document of the group version; absent if it has none. */
  readonly part: Buffer | undefined;
}

/** The last fetched documents of the extension API servers. */
export class OtherDocuments {
  readonly #byName = new Map<string, OtherDocument>();
  #current: readonly OtherDocument[] = [];

  /** Returns the documents in the order of their groups in discovery. It is the same list as long as nothing has changed. */
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
