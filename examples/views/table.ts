import { setTimeout as sleep } from 'node:timers/promises'
import type { OwnKind } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** A row of the table `books`. */
export interface Book {
  readonly isbn: string
  readonly title: string
  readonly stock: number
}

/** The rows of a SQLite file. Needs `node:sqlite`, which Node has since version 22.5. */
function sqliteRows(file: string): () => readonly Book[] {
  const sqlite = process.getBuiltinModule('node:sqlite' as string) as unknown as {
    DatabaseSync: new (file: string) => { prepare(sql: string): { all(): readonly Book[] } }
  }
  if (sqlite === undefined) throw new Error(`node:sqlite is missing in Node ${process.versions.node}`)
  const books = new sqlite.DatabaseSync(file).prepare('SELECT isbn, title, stock FROM books')
  return () => books.all()
}

/** A foreign source: the rows of a SQL table as objects of the logical cluster `cluster`, read again every `seconds`. */
const table: ViewPlugin = (f, { file = 'books.db', rows, cluster = 'root', seconds = 1 }) =>
  f.defineVirtualWorkspace('books', '/services/books', ({ log }) => {
    const read = (rows as (() => readonly Book[]) | undefined) ?? sqliteRows(String(file))
    const kind: OwnKind = {
      ...{ group: 'library.example.com', version: 'v1', resource: 'books', kind: 'Book' },
      columns: { Title: ({ title }) => String(title), Stock: ({ stock }) => Number(stock) },
      selectableFields: { title: ({ title }) => String(title) },
    }
    const books = new f.ObjectMap(kind)
    const update = () => {
      const objects = read().map(({ isbn, ...book }) => ({ metadata: { name: isbn }, ...book }))
      books.replace(String(cluster), objects)
    }
    const apis = f.apiSetOf([f.resourceOf(kind, f.storageOf(books))])
    return {
      apis: () => apis,
      async run(ready, signal) {
        update()
        ready()
        while (!signal.aborted) {
          await sleep(Number(seconds) * 1000, undefined, { signal }).catch(() => undefined)
          try {
            update()
          } catch (error) {
            log.warn({ error: String(error) }, 'the table cannot be read: the last rows are served')
          }
        }
      },
    }
  })

export default table
