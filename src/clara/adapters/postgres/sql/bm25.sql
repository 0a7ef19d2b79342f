-- What one passage has by BM25, its terms looked up one by one: a part of hybrid.sql.
                select sum(w.idf * 2.2::float8 * o.frequency / (o.frequency + 0.3::float8 + o.length * w.slope)) as bm25,
                       sum(w.idf) as covered
                  from weights w
                  cross join lateral (
                      select p.frequency, p.length
                        from postings p
                       where p.corpus = :corpus and p.term = w.term and p.passage_pk = {passage}
                       limit 1
                  ) o
