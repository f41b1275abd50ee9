/** How often one piece of work may find that it needs one more conversion: once for each version in which somebody owns fields, and some. */
const ROUNDS_MAX = 64;

/**
 * Work that does not wait has come to an object that only somebody else can bring into another version. Thrown by a CustomStorage, and
 * answered by {@link converting}, which has the object converted and begins the work anew.
 */
export class ConversionNeeded extends Error {
  readonly #convert: (signal: AbortSignal) => Promise<unknown>;

  constructor(convert: (signal: AbortSignal) => Promise<unknown>) {
    super('an object has to be converted by a webhook first');
    this.name = 'ConversionNeeded';
    this.#convert = convert;
  }

  async convert(signal: AbortSignal): Promise<void> {
    await this.#convert(signal);
  }
}

/**
 * What the work comes to, with all conversions that it needs. The work is begun anew after each, so that it may not have had any effect
 * before it asks for one; without any it is no promise. Throws what a conversion fails with.
 */
export function converting<T>(work: () => T, signal: AbortSignal): T | Promise<T> {
  try {
    return work();
  } catch (error) {
    return afterConversion(work, error, signal);
  }
}

/** The same for work that has been tried already: throws the error that it has thrown if that is another one. */
export function afterConversion<T>(work: () => T, error: unknown, signal: AbortSignal): Promise<T> {
  if (!(error instanceof ConversionNeeded)) throw error;
  return resumed(work, error, signal);
}

async function resumed<T>(work: () => T, first: ConversionNeeded, signal: AbortSignal): Promise<T> {
  let needed = first;
  for (let rounds = 1; ; rounds += 1) {
    await needed.convert(signal);
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConversionNeeded) || rounds >= ROUNDS_MAX) throw error;
      needed = error;
    }
  }
}
