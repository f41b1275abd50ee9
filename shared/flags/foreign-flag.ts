/** A flag of the Kubernetes program without a row of its own here. It is accepted with a warning, or refused with a reason. */
export interface ForeignFlag {
  readonly name: string;
  readonly isSwitch?: boolean;
  /** Accepted values, with a warning; absent means every one. Others are refused. */
  readonly taken?: readonly string[];
  /** Half a sentence: why the flag has no effect here, or what to do instead. */
  readonly reason: string;
}

/** The decision about a foreign flag: accepted with a warning, or refused. */
export type ForeignFlagDecision = { readonly warning: string } | { readonly error: string };

/** `text` is undefined without a value; a switch is then true. */
export function decideForeignFlag(flag: ForeignFlag, text: string | undefined): ForeignFlagDecision {
  const { name, reason, taken } = flag;
  if (text === undefined && flag.isSwitch !== true) return { error: `--${name} needs a value` };
  const value = text ?? 'true';
  return taken === undefined || taken.includes(value)
    ? { warning: `--${name} has no effect: ${reason}` }
    : { error: `--${name}=${value} is not supported: ${reason}` };
}
