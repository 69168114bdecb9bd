import { declare, type FunctionDecl, type FunctionOp, overload } from '../values/declaration.ts'
import { type Int, inInt64, inUint64, normalInt } from '../values/int.ts'
import { typeNameOf } from '../values/kind.ts'
import {
  durationText,
  isTimestamp,
  maxSeconds,
  minSeconds,
  parseDuration,
  parseTimestamp,
  timestampText,
} from '../values/time.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  paramType,
  stringType,
  timestampType,
  typeOfType,
  uintType,
} from '../values/type.ts'
import {
  type CelDuration,
  CelError,
  CelTimestamp,
  type CelValue,
  Double,
  TypeValue,
  Uint,
} from '../values/value.ts'
import { goFloat } from './stringformat.ts'

const noConversion = (from: string, to: CelType): CelError =>
  new CelError(`type conversion error from '${from}' to '${to.name}'`)

const identity: FunctionOp = ([value = null]) => value

/** A conversion from a string. */
const read =
  (to: CelType, parse: (text: string) => CelValue | undefined): FunctionOp =>
  ([text]) =>
    parse(String(text)) ?? noConversion('string', to)

const bools: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  TRUE: true,
  true: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  FALSE: false,
  false: false,
  False: false,
}

const readBool = (text: string): boolean | undefined => (Object.hasOwn(bools, text) ? bools[text] : undefined)

function readInt(text: string): Int | undefined {
  if (text.length > 1000 || !/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ''))
  return inInt64(value) ? normalInt(value) : undefined
}

function readUint(text: string): Uint | undefined {
  if (text.length > 1000 || !/^\d+$/.test(text)) return undefined
  const value = BigInt(text)
  return inUint64(value) ? new Uint(value) : undefined
}

function readDouble(text: string): Double | undefined {
  if (/^[+-]?inf(inity)?$/i.test(text)) return new Double(text.startsWith('-') ? -Infinity : Infinity)
  if (/^nan$/i.test(text)) return new Double(Number.NaN)
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? new Double(value) : undefined
}

function readTimestamp(text: string): CelTimestamp | CelError | undefined {
  const timestamp = parseTimestamp(text)
  return timestamp === undefined || isTimestamp(timestamp) ? timestamp : new CelError('timestamp overflow')
}

const intOverflow = new CelError('integer overflow')

const doubleToInt: FunctionOp = ([value]) => {
  const double = (value as Double).value
  if (!(double > -(2 ** 63) && double < 2 ** 63)) return intOverflow
  return normalInt(BigInt(Math.trunc(double)))
}

const doubleToUint: FunctionOp = ([value]) => {
  const double = (value as Double).value
  if (!(double >= 0 && double < 2 ** 64)) return new CelError('unsigned integer overflow')
  return new Uint(BigInt(Math.trunc(double)))
}

const intToUint: FunctionOp = ([value]) =>
  (value as Int) < 0 ? new CelError('unsigned integer overflow') : new Uint(BigInt(value as Int))

const uintToInt: FunctionOp = ([value]) => {
  const uint = (value as Uint).value
  return inInt64(uint) ? normalInt(uint) : intOverflow
}

const intToTimestamp: FunctionOp = ([value]) => {
  const seconds = Number(value)
  return seconds < minSeconds || seconds > maxSeconds
    ? new CelError('timestamp overflow')
    : new CelTimestamp(seconds, 0)
}

const bytesToString: FunctionOp = ([value]) => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value as Uint8Array)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

const a = paramType('A')

export const conversions: readonly FunctionDecl[] = [
  declare(
    'type',
    overload('type', [a], typeOfType(a), ([value = null]) => new TypeValue(typeNameOf(value))),
  ),
  declare(
    'bool',
    overload('bool_to_bool', [boolType], boolType, identity),
    overload('string_to_bool', [stringType], boolType, read(boolType, readBool)),
  ),
  declare(
    'bytes',
    overload('bytes_to_bytes', [bytesType], bytesType, identity),
    overload('string_to_bytes', [stringType], bytesType, ([text]) => new TextEncoder().encode(String(text))),
  ),
  declare(
    'double',
    overload('double_to_double', [doubleType], doubleType, identity),
    overload('int64_to_double', [intType], doubleType, ([value]) => new Double(Number(value))),
    overload('string_to_double', [stringType], doubleType, read(doubleType, readDouble)),
    overload(
      'uint64_to_double',
      [uintType],
      doubleType,
      ([value]) => new Double(Number((value as Uint).value)),
    ),
  ),
  declare(
    'duration',
    overload('duration_to_duration', [durationType], durationType, identity),
    overload('string_to_duration', [stringType], durationType, read(durationType, parseDuration)),
  ),
  declare('dyn', overload('to_dyn', [a], dynType, identity)),
  declare(
    'int',
    overload('int64_to_int64', [intType], intType, identity),
    overload('double_to_int64', [doubleType], intType, doubleToInt),
    overload('duration_to_int64', [durationType], intType, ([value]) =>
      normalInt((value as CelDuration).nanos),
    ),
    overload('string_to_int64', [stringType], intType, read(intType, readInt)),
    overload('timestamp_to_int64', [timestampType], intType, ([value]) => (value as CelTimestamp).seconds),
    overload('uint64_to_int64', [uintType], intType, uintToInt),
  ),
  declare(
    'string',
    overload('string_to_string', [stringType], stringType, identity),
    overload('bool_to_string', [boolType], stringType, ([value]) => String(value)),
    overload('bytes_to_string', [bytesType], stringType, bytesToString),
    overload('double_to_string', [doubleType], stringType, ([value]) => goFloat((value as Double).value)),
    overload('duration_to_string', [durationType], stringType, ([value]) =>
      durationText(value as CelDuration),
    ),
    overload('int64_to_string', [intType], stringType, ([value]) => String(value)),
    overload('timestamp_to_string', [timestampType], stringType, ([value]) =>
      timestampText(value as CelTimestamp),
    ),
    overload('uint64_to_string', [uintType], stringType, ([value]) => String((value as Uint).value)),
  ),
  declare(
    'timestamp',
    overload('timestamp_to_timestamp', [timestampType], timestampType, identity),
    overload('int64_to_timestamp', [intType], timestampType, intToTimestamp),
    overload('string_to_timestamp', [stringType], timestampType, read(timestampType, readTimestamp)),
  ),
  declare(
    'uint',
    overload('uint64_to_uint64', [uintType], uintType, identity),
    overload('double_to_uint64', [doubleType], uintType, doubleToUint),
    overload('int64_to_uint64', [intType], uintType, intToUint),
    overload('string_to_uint64', [stringType], uintType, read(uintType, readUint)),
  ),
]
