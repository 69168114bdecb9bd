/**
 * The tokens of RE2 syntax that matter for the size of a pattern: a text that is quoted, an escape, a class of characters, flags, which are
 * no operand, a repetition, an operator, parentheses, or letters.
 */
const tokens = new RegExp(
  [
    /\\Q(?<quoted>.*?)(?:\\E|$)/,
    /(?<escape>\\(?:[pPx]\{[^}]{0,40}\}|[pP]?.|$))/,
    /(?<characters>\[\^?\]?(?:\\.|\[:\^?[a-z]*:\]|[^\]\\])*\]?)/,
    /(?<flags>\(\?[A-Za-z-]*\))/,
    /\{(?<least>0|[1-9]\d*)(?:,(?<most>0|[1-9]\d*)?)?\}/,
    /(?<operator>[*+?|])|(?<begin>\()|(?<end>\))/,
    /(?<letters>[^\\[(){|*+?]+|.)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gs',
)

type Groups = Readonly<Record<string, string | undefined>>

/** The maximum cost of a pattern: some tens of milliseconds. */
export const maxPatternCost = 16_384

/** A class of Unicode has up to hundreds of ranges: compiling one takes as long as so many letters. */
const costOfUnicodeClass = 100

const unicodeClass = /\\[pP]/g

/** Classes of Unicode (`\pL`) in a pattern, each of which has an array of ranges. */
export const unicodeClasses = (pattern: string): number => pattern.match(unicodeClass)?.length ?? 0

const costOf = (operand: string): number => operand.length + costOfUnicodeClass * unicodeClasses(operand)

/** The cost of one more copy of an operand that is not a group: its ranges are shared. */
const costOfCopy = 4

/** A group: the cost of it, that of one more copy, and that of one more copy of its last operand, which a repetition repeats. */
interface Group {
  sum: number
  copy: number
  last: number
}

const emptyGroup = (): Group => ({ sum: 0, copy: 0, last: 0 })

function addOperand(group: Group, sum: number, copy: number): void {
  group.sum += sum
  group.copy += copy
  group.last = copy
}

/** Each letter is an operand. */
function addLetters(group: Group, { length }: string): void {
  if (length === 0) return
  addOperand(group, length, length)
  group.last = 1
}

function addCopies(group: Group, times: number): void {
  const more = group.last * (times - 1)
  group.sum += more
  group.copy += more
  group.last += more
}

/** Adds the cost of a token that opens and closes no group. */
function add(group: Group, token: Groups): void {
  const { quoted, letters, flags, least, most, operator } = token
  if (least !== undefined) addCopies(group, Math.max(1, Number(least), Number(most ?? 0)))
  else if (operator !== undefined) {
    group.sum++
    group.copy++
    group.last++
  } else if (letters !== undefined || quoted !== undefined) addLetters(group, letters ?? quoted ?? '')
  else if (flags === undefined) {
    const cost = costOf(token.escape ?? token.characters ?? '')
    addOperand(group, cost, Math.min(cost, costOfCopy))
  }
}

/**
 * The cost of compiling a pattern: about its characters when each repetition is written out, and at least half of the instructions of its
 * program. RE2 refuses repetitions of more than 1,000 times, nested ones together. A unit takes one or two microseconds.
 */
export function patternCost(pattern: string): number {
  if (pattern.length > maxPatternCost) return pattern.length
  const open: Group[] = []
  let group = emptyGroup()
  const close = (): void => {
    const { sum, copy } = group
    group = open.pop() ?? emptyGroup()
    addOperand(group, sum + 2, copy + 2)
  }
  for (const { groups = {} } of pattern.matchAll(tokens)) {
    const { begin, end } = groups
    if (begin !== undefined) {
      open.push(group)
      group = emptyGroup()
    } else if (end !== undefined) close()
    else add(group, groups)
  }
  while (open.length > 0) close()
  return Math.max(pattern.length, group.sum)
}
