/** Maximum number of prepared statements of a connection. */
export const MAX_STATEMENTS = 20;

/** The prepared statements of a connection that were used last, by their SQL. */
export class StatementCache<Statement> {
  /** In the order of their use. */
  readonly #statements = new Map<string, Statement>();
  readonly #finalize: (statement: Statement) => void;

  constructor(finalize: (statement: Statement) => void) {
    this.#finalize = finalize;
  }

  get(sql: string, prepare: () => Statement): Statement {
    const statement = this.#statements.get(sql) ?? prepare();
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size > MAX_STATEMENTS && oldest !== undefined) this.delete(oldest);
    return statement;
  }

  delete(sql: string): void {
    const statement = this.#statements.get(sql);
    if (statement !== undefined) this.#finalize(statement);
    this.#statements.delete(sql);
  }

  clear(): void {
    for (const sql of this.#statements.keys()) this.delete(sql);
  }
}
