import { Pace } from '../async/awaitable.ts'
import { turn } from '../async/turn.ts'
import type { Item } from '../contract/item.ts'
import type { ItemList, ListMeta } from '../contract/storage.ts'
import { formatJson, parseJson } from '../json/json.ts'
import { formatYaml } from '../wire/yaml.ts'
import { yamlParts } from '../wire/yamlparts.ts'
import { yamlPart } from '../wire/yamlsource.ts'
import type { ListForm } from './forms.ts'

/** The pieces of a list in indented JSON or YAML. */
interface Pieces {
  readonly begin: string
  readonly between: string
  /** Before the first element. */
  readonly first: string
  /** The text of an element, in parts. */
  element(value: unknown): Iterable<string>
  end(isEmpty: boolean, meta: ListMeta): string
}

const comma = Buffer.from(',')

/** About this much text is sent at once. */
const worthAWrite = 64 * 1024

/** The fields of a list before its elements, and the name of the elements: `items` or `rows`. */
function readHead(head: string): { readonly fields: Record<string, unknown>; readonly name: string } {
  const { ...fields } = parseJson(Buffer.from(`${head}]}`)) as Record<string, unknown>
  const name = Object.keys(fields).at(-1) ?? ''
  delete fields[name]
  return { fields, name }
}

const indented = (text: string, by: string): string => text.replace(/\n(?=[^\n])/g, `\n${by}`)

function jsonPieces(head: string): Pieces {
  const { fields, name } = readHead(head)
  const begin = formatJson({ ...fields, [name]: [] }, 2).slice(0, -'\n}'.length - 1)
  return {
    begin,
    between: ',',
    first: '',
    element: value => [`\n    ${indented(formatJson(value, 2), '    ')}`],
    end: (isEmpty, meta) =>
      `${isEmpty ? '' : '\n  '}],\n  "metadata": ${indented(formatJson(meta, 2), '  ')}\n}\n`,
  }
}

/** Keys are sorted, except that the metadata of a Table follows its rows, because it is known after them. */
function yamlPieces(head: string): Pieces {
  const { fields, name } = readHead(head)
  const part = (isWanted: (key: string) => boolean, more: object = {}): string => {
    const wanted = Object.entries(fields).filter(([key]) => isWanted(key))
    const object = { ...Object.fromEntries(wanted), ...more }
    return Object.keys(object).length === 0 ? '' : formatYaml(object)
  }
  return {
    begin: `${part(key => key < name)}${name}:`,
    between: '',
    first: '\n',
    element: value => yamlParts([value]),
    end: (isEmpty, meta) => `${isEmpty ? ' []\n' : ''}${part(key => key > name, { metadata: meta })}`,
  }
}

/** The list in indented JSON or in YAML, with a turn of the event loop after each write. */
export async function* listText(
  list: ItemList,
  form: ListForm,
  format: 'json' | 'yaml',
): AsyncGenerator<Buffer, void> {
  const pieces = format === 'yaml' ? yamlPieces(form.head) : jsonPieces(form.head)
  const bytesOf = (item: Item): Buffer => form.element?.(item) ?? item.bytes
  const pace = new Pace()
  let [text, isEmpty] = [pieces.begin, true]
  let json: Buffer[] = [Buffer.from(form.head)]
  const taken = (): Buffer => {
    const [bytes, encoded] = [Buffer.from(text), json]
    text = ''
    json = []
    return format === 'yaml' ? yamlPart(bytes, () => encoded) : bytes
  }
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      for (const item of next.value) {
        const bytes = bytesOf(item)
        text += isEmpty ? pieces.first : pieces.between
        json.push(...(isEmpty ? [] : [comma]), bytes)
        isEmpty = false
        for (const part of pieces.element(parseJson(bytes))) {
          text += part
          await pace.due()
          if (text.length < worthAWrite) continue
          yield taken()
          await turn()
        }
      }
    }
    text += pieces.end(isEmpty, next.value)
    json.push(Buffer.from(`],"metadata":${JSON.stringify(next.value)}}`))
    yield taken()
  } finally {
    await list.return({ resourceVersion: '' })
  }
}
