"""Tests of reading the figures of a Spanish text. Figures are written as an editor sees them: kind, value, unit."""

import pytest

from clara.language.figures.reader import spanish


def shown(text: str) -> set[str]:
    """Read a text and show its figures."""
    return {str(figure) for figure in spanish().values_in(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("cuesta 12 €", {"amount 12 EUR"}, id="whole"),
        pytest.param("son 1.234,56 €", {"amount 1234.56 EUR"}, id="thousands-and-cents"),
        pytest.param("161,39 €/mes", {"amount 161.39 EUR/month"}, id="slash-month"),
        pytest.param("600 euros al mes", {"amount 600 EUR/month"}, id="al-mes"),
        pytest.param("900 € mensuales", {"amount 900 EUR/month"}, id="mensuales"),
        pytest.param("25.200 € al año o 2.100 € / mes", {"amount 25200 EUR/year", "amount 2100 EUR/month"}, id="two-rhythms"),
        pytest.param("9 € por hora, 70 € a la semana", {"amount 9 EUR/hour", "amount 70 EUR/week"}, id="hour-and-week"),
        pytest.param("15 € diarios", {"amount 15 EUR/day"}, id="daily"),
        pytest.param("100, 70 y 50 €", {"amount 100 EUR", "amount 70 EUR", "amount 50 EUR"}, id="list"),
        pytest.param("de 500 a 1.000 €", {"amount 500 EUR", "amount 1000 EUR"}, id="range"),
        pytest.param("14.400/18.000 €", {"amount 14400 EUR", "amount 18000 EUR"}, id="slash-list"),
        pytest.param("1,5 millones de euros", {"amount 1500000 EUR"}, id="millions"),
        pytest.param("un millón de euros", {"amount 1000000 EUR"}, id="one-million"),
        pytest.param("3 mil euros", {"amount 3000 EUR"}, id="thousand-after-digits"),
        pytest.param("dos mil doscientos euros", {"amount 2200 EUR"}, id="words"),
        pytest.param("ciento veinte EUR", {"amount 120 EUR"}, id="currency-code"),
        pytest.param("entre 0,102345 € y 0,2 €", {"amount 0.102345 EUR", "amount 0.2 EUR"}, id="many-decimals"),
        pytest.param("la beca da 600 €", {"amount 600 EUR"}, id="verb-da-is-no-provision"),
        pytest.param("la tasa 10,94 €", {"amount 10.94 EUR"}, id="fee-is-no-form"),
        pytest.param("2000 €", {"amount 2000 EUR"}, id="amount-is-no-year"),
    ],
)
def test_amounts(text: str, expected: set[str]) -> None:
    """Amounts are euros, each with its rhythm where one is told."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("el 33 % o el 65%", {"percentage 33", "percentage 65"}, id="sign"),
        pytest.param("12,5 por ciento", {"percentage 12.5"}, id="words-behind"),
        pytest.param("el cien por cien", {"percentage 100"}, id="cien-por-cien"),
        pytest.param("el treinta y tres por ciento", {"percentage 33"}, id="in-words"),
        pytest.param("del 10 al 25 %", {"percentage 10", "percentage 25"}, id="range"),
        pytest.param("un por ciento", {"percentage 1"}, id="one"),
        pytest.param("en 2027 al 93 por ciento", {"date 2027", "percentage 93"}, id="a-year-is-no-share"),
    ],
)
def test_percentages(text: str, expected: set[str]) -> None:
    """A percentage is a number before % or 'por ciento'."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("uno solicita dos cosas", id="no-unit"),
        pytest.param("por ciento", id="percent-without-number"),
        pytest.param("ninguna persona, algunos meses", id="inside-a-word"),
        pytest.param("la mensualidad de un título", id="unit-before"),
    ],
)
def test_words_that_are_no_figures(text: str) -> None:
    """A number word without a unit behind it, or inside of another word, is no figure."""
    assert shown(text) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("en 10 días hábiles", {"period 10 working_day"}, id="working-days"),
        pytest.param("quince dias habiles", {"period 15 working_day"}, id="no-accents"),
        pytest.param("tres días laborables", {"period 3 working_day"}, id="laborables"),
        pytest.param("90 días naturales al año", {"period 90 day"}, id="calendar-days"),
        pytest.param(
            "5-10 días o 2 semanas a 1 mes", {"period 5 day", "period 10 day", "period 2 week", "period 1 month"}, id="ranges"
        ),
        pytest.param("tres o seis meses", {"period 3 month", "period 6 month"}, id="words-list"),
        pytest.param("las 24 horas y 30 minutos", {"period 24 hour", "period 30 minute"}, id="hours-minutes"),
        pytest.param("dos trimestres, cuatro cursos", {"period 2 quarter", "period 4 school_year"}, id="quarter-course"),
        pytest.param("doce mensualidades", {"period 12 month"}, id="mensualidades"),
        pytest.param("de treinta y uno y treinta y dos días", {"period 31 day", "period 32 day"}, id="y-inside-and-between"),
        pytest.param("1.080 días", {"period 1080 day"}, id="thousands"),
    ],
)
def test_periods(text: str, expected: set[str]) -> None:
    """Periods keep the unit the text counts them in; all numbers of a series share it."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("residencia legal de diez años", {"period 10 year"}, id="residence"),
        pytest.param("hace entre 3 y 5 años", {"period 3 year", "period 5 year"}, id="short-range"),
        pytest.param("una persona que lleva 2 años", {"count 1 people", "period 2 year"}, id="person-far-away"),
        pytest.param("mayor de 18 años", {"age 18"}, id="mayor-de"),
        pytest.param("menores de 14", {"age 14"}, id="no-unit"),
        pytest.param("mayores de 18 o 21", {"age 18", "age 21"}, id="no-unit-two"),
        pytest.param("menores extranjeros de 16 años", {"age 16"}, id="word-between"),
        pytest.param("de 23 a 65 años", {"age 23", "age 65"}, id="grown-up-range"),
        pytest.param("23 años o más de edad", {"age 23"}, id="de-edad"),
        pytest.param("26 años cumplidos", {"age 26"}, id="cumplidos"),
        pytest.param("hasta cumplir los 8 años", {"age 8"}, id="cumplir"),
        pytest.param("hijos de 3 años", {"age 3"}, id="children"),
        pytest.param("personas de hasta 35 años", {"age 35"}, id="people-up-to"),
        pytest.param("la edad es de 16 años", {"age 16"}, id="edad-before"),
        pytest.param("menor de 3.000 €", {"amount 3000 EUR"}, id="less-than-an-amount"),
        pytest.param("mayor de 33 %", {"percentage 33"}, id="more-than-a-share"),
    ],
)
def test_ages_and_durations(text: str, expected: set[str]) -> None:
    """Years are an age where the words around say so, else a duration."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("el 30 de junio de 2026", {"date 2026-06-30"}, id="spelt"),
        pytest.param("el 2 de Mayo del año 2026", {"date 2026-05-02"}, id="del-ano"),
        pytest.param("el 1.º de enero", {"date --01-01"}, id="ordinal-no-year"),
        pytest.param("del 1 al 15 de octubre de 2025", {"date 2025-10-01", "date 2025-10-15"}, id="range"),
        pytest.param("los días 5, 10 y 15 de abril", {"date --04-05", "date --04-10", "date --04-15"}, id="list"),
        pytest.param("del 30 de junio al 2 de julio de 2026", {"date --06-30", "date 2026-07-02"}, id="two-months"),
        pytest.param("desde el 20-5-2025", {"date 2025-05-20"}, id="hyphens"),
        pytest.param("desde el 20/05/2025", {"date 2025-05-20"}, id="slashes"),
        pytest.param("desde el 20.5.2025.", {"date 2025-05-20"}, id="dots"),
        pytest.param("2026-06-30", {"date 2026-06-30"}, id="iso"),
        pytest.param("desde abril de 2026", {"date 2026-04"}, id="month-and-year"),
        pytest.param("en setiembre 2025", {"date 2025-09"}, id="month-without-de"),
        pytest.param("en 2025 y 1998", {"date 2025", "date 1998"}, id="years"),
        pytest.param("en abril", set(), id="month-alone"),
        pytest.param("curso 2026-2027", {"date 2026", "date 2027"}, id="school-year"),
        pytest.param("curso 2025/26", {"date 2025", "date 2026"}, id="school-year-short"),
        pytest.param("curso 2025/2026", {"date 2025", "date 2026"}, id="school-year-is-no-norm"),
        pytest.param("plan 1998-2005", {"date 1998", "date 2005"}, id="plan-years"),
        pytest.param("el 45 de enero", {"count 45"}, id="no-such-day"),
        pytest.param("de 9:30 a 14:00", {"time 09:30", "time 14:00"}, id="times"),
        pytest.param("9:30-14:00", {"time 09:30", "time 14:00"}, id="times-range"),
        pytest.param("resultado 31:75", {"count 31", "count 75"}, id="no-such-time"),
    ],
)
def test_dates_and_times(text: str, expected: set[str]) -> None:
    """Dates are ISO 8601, whole or in part, in whatever form they are written."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("llama al 016", {"phone 016"}, id="three-digits"),
        pytest.param("en peligro, el 112.", {"phone 112"}, id="emergency"),
        pytest.param("ANAR: 116111 y 116 000", {"phone 116111", "phone 116000"}, id="six-digits"),
        pytest.param("900 20 20 10", {"phone 900202010"}, id="pairs"),
        pytest.param("600 000 016", {"phone 600000016"}, id="triples"),
        pytest.param("91 322 01 89", {"phone 913220189"}, id="two-digit-prefix"),
        pytest.param("913.22.01.89", {"phone 913220189"}, id="dots"),
        pytest.param("913220189", {"phone 913220189"}, id="no-blanks"),
        pytest.param("+34 913 220 189", {"phone 913220189"}, id="country-plus"),
        pytest.param("0034 600000016", {"phone 600000016"}, id="country-zeros"),
        pytest.param("150000 plazas", {"count 150000"}, id="six-digit-count"),
        pytest.param("expediente 9132201891", {"count 9132201891"}, id="ten-digits"),
    ],
)
def test_phones(text: str, expected: set[str]) -> None:
    """Spanish phones, short ones too, are their digits without the country's."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("en https://sede.gob.es.", {"url https://sede.gob.es"}, id="full-stop"),
        pytest.param("(https://sede.gob.es/Tasa790_012/); luego", {"url https://sede.gob.es/Tasa790_012/"}, id="brackets"),
        pytest.param("¿y https://a.es/x?y=1&z=2?", {"url https://a.es/x?y=1&z=2"}, id="question-mark"),
        pytest.param("«https://a.es/b»", {"url https://a.es/b"}, id="quotes"),
        pytest.param("*https://a.es/b*", {"url https://a.es/b"}, id="bold"),
        pytest.param("lee https://a.es/@b.com/c1", {"url https://a.es/@b.com/c1"}, id="at-sign-in-a-url"),
        pytest.param("imv.seg-social.es lleva", {"url imv.seg-social.es"}, id="no-scheme"),
        pytest.param("www.sepe.es/HomeSepe, o", {"url www.sepe.es/HomeSepe"}, id="www-and-path"),
        pytest.param("trata@policia.es.", {"email trata@policia.es"}, id="email"),
        pytest.param("016-online@igualdad.gob.es", {"email 016-online@igualdad.gob.es"}, id="email-with-digits"),
        pytest.param("ana.es@x.org", {"email ana.es@x.org"}, id="email-that-begins-like-a-site"),
        pytest.param("La sede.Es gratis", set(), id="missing-blank-is-no-site"),
        pytest.param("esto.no", set(), id="not-a-known-ending"),
    ],
)
def test_addresses(text: str, expected: set[str]) -> None:
    """Addresses end before the punctuation of the sentence."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("el modelo EX-15", {"form EX-15"}, id="ex"),
        pytest.param("EX15, EX 17 y ex-10", {"form EX-15", "form EX-17", "form EX-10"}, id="ex-spellings"),
        pytest.param("el 790 código 012", {"form 790-012"}, id="790-code"),
        pytest.param("modelo 790-026", {"form 790-026"}, id="790-hyphen"),
        pytest.param("tasa 790, código 079", {"form 790-079"}, id="790-comma"),
        pytest.param("la tasa 052", {"form 052"}, id="fee-number"),
        pytest.param("la tasa 062 o 052 en vez de la 012", {"form 062", "form 052", "form 012"}, id="instead-of"),
        pytest.param("los modelos 100 y 720", {"form 100", "form 720"}, id="two-models"),
        pytest.param("el TA.1 o el TA2/1", {"form TA-1", "form TA-2/1"}, id="ta"),
        pytest.param("Mod. 145", {"form 145"}, id="mod"),
        pytest.param("el DELE A2", {"form A2"}, id="level"),
        pytest.param("formularios U1/U2", {"form U1", "form U2"}, id="letter-codes"),
        pytest.param("790 123 456", {"phone 790123456"}, id="phone-is-no-form"),
        pytest.param("A2,5", {"count 2.5"}, id="decimal-is-no-code"),
    ],
)
def test_forms(text: str, expected: set[str]) -> None:
    """Forms have one spelling each; a code with a letter in front is a code, not a count."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("la Ley 39/2006", {"norm Ley 39/2006"}, id="ley"),
        pytest.param("la LO 4/2000", {"norm Ley Orgánica 4/2000"}, id="lo"),
        pytest.param(
            "RD 1155/2024 y RD-ley 9/2025", {"norm Real Decreto 1155/2024", "norm Real Decreto-ley 9/2025"}, id="short"
        ),
        pytest.param("RDL 3/2026", {"norm Real Decreto-ley 3/2026"}, id="rdl"),
        pytest.param("RDLeg 8/2015", {"norm Real Decreto Legislativo 8/2015"}, id="rdleg"),
        pytest.param("la Orden ISM/1375/2021", {"norm Orden ISM/1375/2021"}, id="order"),
        pytest.param("la Instrucción SEM 1/2025", {"norm Instrucción SEM 1/2025"}, id="instruction"),
        pytest.param("BOE-A-2026-8872", {"norm BOE-A-2026-8872"}, id="boe"),
        pytest.param("Reglamento (UE) 2024/1348", {"norm Reglamento (UE) 2024/1348"}, id="year-first"),
        pytest.param("Reglamento (CE) n.º 883/2004", {"norm Reglamento (CE) 883/2004"}, id="numero"),
        pytest.param("Directiva 2003/109/CE", {"norm Directiva 2003/109/CE"}, id="directive"),
        pytest.param("según la 4/2000", {"norm 4/2000"}, id="no-name"),
        pytest.param("Ley 39/2006, de 14 de diciembre", {"norm Ley 39/2006", "date --12-14"}, id="with-its-day"),
        pytest.param("art. 31.3", {"provision art. 31.3"}, id="article"),
        pytest.param(
            "artículos 15 a 18 y 22 bis", {"provision art. 15", "provision art. 18", "provision art. 22 bis"}, id="range"
        ),
        pytest.param("arts. 93-99", {"provision art. 93", "provision art. 99"}, id="hyphen"),
        pytest.param("articulo 1902", {"provision art. 1902"}, id="four-digits-no-accent"),
        pytest.param("disposición transitoria 5.ª", {"provision DT 5"}, id="transitory"),
        pytest.param("disposiciones adicionales 20.ª y 21.ª", {"provision DA 20", "provision DA 21"}, id="additional"),
        pytest.param("disp. final. 7.ª", {"provision DF 7"}, id="final-abbreviated"),
        pytest.param("la DA 3ª", {"provision DA 3"}, id="initials"),
    ],
)
def test_law(text: str, expected: set[str]) -> None:
    """Norms get their full name, provisions one spelling each."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("5,5 veces el IPREM", {"count 5.5 times"}, id="times"),
        pytest.param("en 14 pagas", {"count 14 payments"}, id="payments"),
        pytest.param("2 personas, un miembro", {"count 2 people", "count 1 people"}, id="people"),
        pytest.param("dos hijos y tres menores", {"count 2 children", "count 3 children"}, id="children"),
        pytest.param("10.000 habitantes", {"count 10000 inhabitants"}, id="inhabitants"),
        pytest.param("10 kW, 5 MB, 12 m²", {"count 10 kW", "count 5 MB", "count 12 m2"}, id="technical"),
        pytest.param("1,2 millones de solicitudes", {"count 1200000"}, id="millions"),
        pytest.param("2 millones de personas", {"count 2000000 people"}, id="millions-of-people"),
        pytest.param("en 53 idiomas", {"count 53"}, id="anything"),
        pytest.param("el 3 mayor", {"count 3"}, id="bare"),
        pytest.param("epígrafe 5.12", {"count 5", "count 12"}, id="numbering"),
        pytest.param("٥٣ idiomas", {"count 53"}, id="arabic-digits"),
        pytest.param("1234567890123", {"count 1234567890123"}, id="long-as-an-account"),
        pytest.param("sin cifras", set(), id="none"),
        pytest.param("", set(), id="empty"),
    ],
)
def test_counts(text: str, expected: set[str]) -> None:
    """What is nothing else is a count, with what it counts where that is known."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("VEİNTE DÍAS", {"period 20 day"}, id="dotted-capital"),
        pytest.param("ſeis meſes", {"period 6 month"}, id="long-s"),
        pytest.param("dieciséis días", {"period 16 day"}, id="separate-accents"),
        pytest.param("EX\u201115", {"form EX-15"}, id="unbreakable-hyphen"),
        pytest.param("1.234,56\u202f€", {"amount 1234.56 EUR"}, id="narrow-blank"),
        pytest.param("600\t000  016", {"phone 600000016"}, id="tab-and-two-blanks"),
        pytest.param("10\nmeses", {"period 10 month"}, id="broken-line"),
    ],
)
def test_writing_makes_no_difference(text: str, expected: set[str]) -> None:
    """Letters, accents, hyphens and blanks are read as what they look like."""
    assert shown(text) == expected
