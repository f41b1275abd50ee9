/** The power of ten from which `%g` writes an exponent. */
const EXPONENT_FROM = 6;

/** Writes a double as Go's `%g` does: its shortest form, with an exponent below 1e-4 and from 1e6 on. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < EXPONENT_FROM) return plainDecimal(value);
  const width = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits}e${exponent < 0 ? '-' : '+'}${width}`;
}

/** Writes the shortest decimal of a number without an exponent. */
export function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [digits = '', power = '0'] = text.split('e');
  const sign = digits.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  const exponent = Number(power);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(exponent, '0')}`;
}
