/**
 * A flag of the Kubernetes program that this one stands in for and has no row for itself. Manifests and scripts that give it go on
 * working, or are told why they cannot.
 */
export interface ForeignFlag {
  readonly name: string;
  readonly isSwitch?: boolean;
  /** The values that are taken, with a warning; absent means every one. Others are refused. */
  readonly taken?: readonly string[];
  /** Half a sentence: why the flag has no effect here, or what to do instead. */
  readonly reason: string;
}

/** What is said of a foreign flag that was given: it is taken, or it cannot be. */
export type ForeignVerdict = { readonly warning: string } | { readonly error: string };

/** `text` is undefined where the flag stands alone; a switch is then true. */
export function judgeForeignFlag(flag: ForeignFlag, text: string | undefined): ForeignVerdict {
  const { name, reason, taken } = flag;
  if (text === undefined && flag.isSwitch !== true) return { error: `--${name} needs a value` };
  const value = text ?? 'true';
  return taken === undefined || taken.includes(value)
    ? { warning: `--${name} has no effect: ${reason}` }
    : { error: `--${name}=${value} is not supported: ${reason}` };
}
