import { parseQuantity, type Quantity } from '../../framework/formats/quantity.ts'
import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import { type Int, normalInt } from '../values/int.ts'
import { boolType, doubleType, intType, opaqueType, stringType } from '../values/type.ts'
import { CelError, Double, type OpaqueValue } from '../values/value.ts'

const quantityType = opaqueType('kubernetes.Quantity')

class QuantityValue implements OpaqueValue {
  readonly opaque = quantityType
  readonly quantity: Quantity
  constructor(quantity: Quantity) {
    this.quantity = quantity
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && other.quantity.nanos === this.quantity.nanos
  }
}

const nanosOf = (value: unknown): bigint => (value as QuantityValue).quantity.nanos

const toQuantity: FunctionOp = ([text]) => {
  const quantity = parseQuantity(String(text))
  return typeof quantity === 'string' ? new CelError(quantity) : new QuantityValue(quantity)
}

const compare: FunctionOp = ([a, b]) => Number(nanosOf(a) > nanosOf(b)) - Number(nanosOf(a) < nanosOf(b))

/** A quantity is an int only if it was written as one. */
const asInt = ({ nanos, scale }: Quantity): Int | undefined =>
  scale !== undefined && scale >= 0 && nanos % billion === 0n ? normalInt(nanos / billion) : undefined

const billion = 1_000_000_000n

const operand = (value: unknown): Quantity =>
  value instanceof QuantityValue ? value.quantity : { nanos: BigInt(value as Int) * billion, scale: 0 }

const combined =
  (sign: bigint): FunctionOp =>
  ([a, b]) => {
    const [x, y] = [operand(a), operand(b)]
    const nanos = x.nanos + sign * y.nanos
    return new QuantityValue({ nanos, scale: commonScale(x, y) })
  }

/** Adding zero does not change the scale. */
function commonScale(x: Quantity, y: Quantity): number | undefined {
  if (x.scale === undefined || y.scale === undefined) return undefined
  if (x.nanos === 0n) return y.scale
  return y.nanos === 0n ? x.scale : Math.min(x.scale, y.scale)
}

const pair = [quantityType, quantityType]

export const quantity: readonly FunctionDecl[] = [
  declare('quantity', overload('string_to_quantity', [stringType], quantityType, toQuantity)),
  declare(
    'isQuantity',
    overload(
      'is_quantity_string',
      [stringType],
      boolType,
      ([text]) => typeof parseQuantity(String(text)) !== 'string',
    ),
  ),
  declare(
    'sign',
    member(
      'quantity_sign',
      [quantityType],
      intType,
      ([a]) => Number(nanosOf(a) > 0n) - Number(nanosOf(a) < 0n),
    ),
  ),
  declare(
    'isGreaterThan',
    member('quantity_is_greater_than', pair, boolType, ([a, b]) => nanosOf(a) > nanosOf(b)),
  ),
  declare(
    'isLessThan',
    member('quantity_is_less_than', pair, boolType, ([a, b]) => nanosOf(a) < nanosOf(b)),
  ),
  declare('compareTo', member('quantity_compare_to', pair, intType, compare)),
  declare(
    'asApproximateFloat',
    member('quantity_get_float', [quantityType], doubleType, ([a]) => new Double(Number(nanosOf(a)) / 1e9)),
  ),
  declare(
    'asInteger',
    member(
      'quantity_get_int',
      [quantityType],
      intType,
      ([a]) => asInt(operand(a)) ?? new CelError('cannot convert value to integer'),
    ),
  ),
  declare(
    'isInteger',
    member('quantity_is_integer', [quantityType], boolType, ([a]) => asInt(operand(a)) !== undefined),
  ),
  declare(
    'add',
    member('quantity_add', pair, quantityType, combined(1n)),
    member('quantity_add_int', [quantityType, intType], quantityType, combined(1n)),
  ),
  declare(
    'sub',
    member('quantity_sub', pair, quantityType, combined(-1n)),
    member('quantity_sub_int', [quantityType, intType], quantityType, combined(-1n)),
  ),
]
