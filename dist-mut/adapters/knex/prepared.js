/** How many statements are kept prepared; the one that was used longest ago makes room. */
const STATEMENTS_MAX = 16;
/**
 * Has a connection prepare a text that returns rows once, and not at each run: that saves a turn of the driver's thread,
 * which is most of what one plant alone waits for beside the sync.
 */
export function keepPrepared(connection) {
    const statements = new Map();
    const close = connection.close.bind(connection);
    connection.all = (sql, bindings, done) => {
        const known = statements.get(sql);
        if (known) {
            statements.delete(sql);
            statements.set(sql, known);
            return known.all(bindings, done);
        }
        const statement = connection.prepare(sql, (error) => {
            if (error)
                return done(error);
            statements.set(sql, statement);
            for (const [text, oldest] of statements) {
                if (statements.size <= STATEMENTS_MAX)
                    break;
                statements.delete(text);
                oldest.finalize();
            }
            return statement.all(bindings, done);
        });
        return connection;
    };
    // SQLite does not close a connection that has prepared statements.
    connection.close = (done) => {
        for (const statement of statements.values())
            statement.finalize();
        statements.clear();
        close(done);
    };
}
//# sourceMappingURL=prepared.js.map