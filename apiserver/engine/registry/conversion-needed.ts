/**
 * Maximum number of conversions for one piece of work: one for each version with field owners, and some
 * spare.
 */
const ROUNDS_MAX = 64;

/**
 * Synchronous work needs an object in another version, which only a webhook can convert. A CustomStorage
 * throws this error; {@link converting} has the object converted and retries the work.
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
 * Runs the work and the conversions that it needs. The work is retried after each conversion, so it must not
 * have side effects before. Returns a promise only if a conversion is needed. Throws the error of a failed
 * conversion.
 */
export function converting<T>(work: () => T, signal: AbortSignal): T | Promise<T> {
  try {
    return work();
  } catch (error) {
    return afterConversion(work, error, signal);
  }
}

/** The same for work that has thrown `error` already. Throws any other error than ConversionNeeded. */
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
