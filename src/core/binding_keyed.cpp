// The Python face of the store of many filters. Values are checked by the callers in Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "binding_state.hpp"
#include "keyed.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

using GuardedStore = Guarded<KeyedStore>;
using GuardedFilter = Guarded<Filter>;
using GuardedBank = Guarded<Bank>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Entries = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Shown = std::pair<Out, Ranks>;  // what is predicted, and the ranks of classes

// Keys stay where Python has them; the caller keeps them alive.
Keys read_keys(const KeyedStore& store, nb::handle given) {
    Keys keys;
    if (!store.text()) {
        const auto numbers = nb::cast<Numbers>(given);
        keys.numbers = numbers.data();
        keys.count = numbers.size();
        return keys;
    }
    const auto texts = nb::cast<nb::list>(given);
    keys.count = texts.size();
    keys.texts.reserve(keys.count);
    for (nb::handle text : texts) {
        Py_ssize_t length;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
        if (!bytes) throw nb::python_error();
        keys.texts.emplace_back(bytes, static_cast<std::size_t>(length));
    }
    return keys;
}

// A filter, or a bank of filters alone.
KeyedModel::Engine engine_of(nb::handle design) {
    const GuardedBank* bank = nullptr;
    if (!nb::try_cast(design, bank)) return nb::cast<const GuardedFilter&>(design).model;
    require(bank->model.packable(), "a bank by key has linear filters alone");
    return bank->model;
}

// Whether an engine has the outputs that labels of so many classes ask for: a margin alone for two, else
// one more each, and in a bank a spare one where any class may come.
bool fits(const KeyedModel::Engine& engine, std::size_t known, bool open) {
    const auto outputs = std::visit([](const auto& some) { return some.outputs(); }, engine);
    const Bank* bank = std::get_if<Bank>(&engine);
    if (outputs == 1 && known <= 2) return true;
    if (!bank) return outputs == 1 + known;
    const std::vector<TargetDesign>& targets = bank->design().targets;
    return targets.size() == 2 && targets[0].coding == Coding::margin && !targets[0].shadow &&
           targets[1].coding == Coding::one_hot && targets[1].shadow &&
           (outputs == 1 + known || (open && outputs == 2 + known));
}

// As every key begins. `classes` are as many as labels have, None for numbers.
KeyedModel model_of(nb::handle design, std::optional<std::size_t> classes, bool open, bool late) {
    const std::size_t known = classes.value_or(0);
    KeyedModel::Engine engine = engine_of(design);
    require(!classes || fits(engine, known, open), "outputs that do not fit the classes");
    KeyedModel model(std::move(engine), {classes.has_value(), known, open});
    model.grow({0, 0, 0, late});
    return model;
}

void make(GuardedStore* g, nb::handle design, std::optional<std::size_t> classes, bool open,
          bool text, bool late, std::size_t most_keys, double idle_rows, double idle_time) {
    const KeyedModel model = model_of(design, classes, open, late);
    new (g) GuardedStore{KeyedStore(model, text, {most_keys, idle_rows, idle_time}), {}};
}

// Seconds, whole nanoseconds, or nothing.
Times read_times(nb::handle given, std::size_t n) {
    Times times;
    if (given.is_none()) return times;
    Vector seconds;
    if (nb::try_cast(given, seconds, false)) {
        require(seconds.size() == n, "one time per key is needed");
        times.seconds = seconds.data();
    } else {
        const auto ticks = nb::cast<Numbers>(given, false);
        require(ticks.size() == n, "one time per key is needed");
        times.ticks = ticks.data();
    }
    return times;
}

void place(GuardedStore& g, nb::handle given, nb::handle moments, const Entries& entries,
           const Flags& fresh, const Column& gaps) {
    const auto held = g.lock();
    const Keys keys = read_keys(g.model, given);
    const std::size_t n = keys.count;
    const Times times = read_times(moments, n);
    require(entries.size() == n && fresh.size() == n && gaps.size() == n, "out has another length");
    nb::gil_scoped_release release;
    g.model.place(keys, times, entries.data(), fresh.data(), gaps.data());
}

std::size_t first_backwards(GuardedStore& g, nb::handle given, nb::handle moments) {
    const auto held = g.lock();
    const Keys keys = read_keys(g.model, given);
    const Times times = read_times(moments, keys.count);
    nb::gil_scoped_release release;
    return g.model.first_backwards(keys, times);
}

void find(GuardedStore& g, nb::handle given, const Entries& entries) {
    const auto held = g.lock();
    const Keys keys = read_keys(g.model, given);
    require(entries.size() == keys.count, "out has another length");
    nb::gil_scoped_release release;
    g.model.find(keys, entries.data());
}

void forget(GuardedStore& g, nb::handle given) {
    const auto held = g.lock();
    const Keys keys = read_keys(g.model, given);
    g.model.forget(keys);
}

KeyedStore::Out check_rows(const KeyedStore& store, const StepArray& entries, const Matrix& X,
                           const Shown& shown) {
    const std::size_t n = entries.size();
    const KeyedModel& design = store.design();
    const auto& [out, ranks] = shown;
    require(X.shape(0) == n && X.shape(1) == design.features(), "X has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == design.outputs(), "out has the wrong shape");
    require(ranks.shape(0) == n && ranks.shape(1) == design.classes(), "ranks of another shape");
    for (std::size_t t = 0; t < n; ++t)
        require(entries.data()[t] == -1 || store.has(entries.data()[t]), "there is no such entry");
    return {out.data(), ranks.data()};
}

void check_targets(const KeyedModel& design, const double* Y, std::size_t n) {
    if (!design.labels()) return;
    for (std::size_t t = 0; t < n; ++t)
        require(Y[t] >= 0.0 && Y[t] < static_cast<double>(design.classes()), "no such class");
}

void learn(GuardedStore& g, const StepArray& entries, const Flags& fresh, const Matrix& X,
           const Matrix& Y, const std::pair<Vector, Vector>& pace, const Shown& shown) {
    const auto held = g.lock();
    const std::size_t n = entries.size();
    const KeyedStore::Out out = check_rows(g.model, entries, X, shown);
    const KeyedModel& design = g.model.design();
    require(Y.shape(0) == n && Y.shape(1) == design.targets(), "Y has the wrong shape");
    check_targets(design, Y.data(), n);
    require(fresh.size() == n, "fresh has another length");
    const PerRow lam = per_row(pace.first, n, "discount has the wrong length");
    const PerRow log_lam = per_row(pace.second, n, "log_discount has the wrong length");
    nb::gil_scoped_release release;
    g.model.learn(entries.data(), fresh.data(), n, X.data(), Y.data(), lam, log_lam, out);
}

void predict_rows(GuardedStore& g, const StepArray& entries, const Matrix& X, const Shown& shown) {
    const auto held = g.lock();
    const KeyedStore::Out out = check_rows(g.model, entries, X, shown);
    nb::gil_scoped_release release;
    g.model.predict(entries.data(), entries.size(), X.data(), out);
}

// When rows came, which model they wait for, and what it made of them: so many numbers of each.
using Kept = std::tuple<Column, Column, Out, Entries>;

void arrive(GuardedStore& g, const StepArray& entries, const Flags& fresh, const Matrix& X,
            const std::pair<Vector, Vector>& pace, const Kept& kept, const Shown& shown) {
    const auto held = g.lock();
    const std::size_t n = entries.size();
    const KeyedStore::Out out = check_rows(g.model, entries, X, shown);
    const auto& [stamps, tickets, made, sizes] = kept;
    require(fresh.size() == n && stamps.size() == n && tickets.size() == n && sizes.size() == n,
            "stamps have another length");
    require(made.shape(0) == n && made.shape(1) == g.model.design().most_made(),
            "made has the wrong shape");
    const PerRow lam = per_row(pace.first, n, "discount has the wrong length");
    const PerRow log_lam = per_row(pace.second, n, "log_discount has the wrong length");
    nb::gil_scoped_release release;
    g.model.arrive(entries.data(), fresh.data(), n, X.data(), lam, log_lam,
                   {stamps.data(), tickets.data(), made.data(), sizes.data()}, out);
}

// 0 if the model is gone, 1 if the label was learned, 2 if waiting rows must be predicted again.
std::int64_t learn_late(GuardedStore& g, std::int64_t entry, const Vector& x, const Vector& y,
                        double stamp, double ticket, const Column& made) {
    const auto held = g.lock();
    const KeyedModel& design = g.model.design();
    require(x.size() == design.features() && y.size() == design.targets(),
            "x or y has the wrong length");
    check_targets(design, y.data(), 1);
    require(entry == -1 || g.model.has(entry), "there is no such entry");
    return g.model.learn_late(entry, x.data(), y.data(), stamp, ticket, {made.data(), made.size()});
}

void remake(GuardedStore& g, std::int64_t entry, const Vector& x, const Column& made) {
    const auto held = g.lock();
    const KeyedModel& design = g.model.design();
    require(design.is_bank() && x.size() == design.features(), "x has the wrong length");
    require(g.model.has(entry), "there is no such entry");
    g.model.remake(entry, x.data(), {made.data(), made.size()});
}

void forget_late(GuardedStore& g, std::int64_t entry, double ticket) {
    const auto held = g.lock();
    g.model.forget_late(entry, ticket);
}

nb::object engine(GuardedStore& g, std::int64_t entry) {
    const auto held = g.lock();
    require(g.model.has(entry), "there is no such entry");
    const auto given = [](const auto& engine) {
        using Engine = std::decay_t<decltype(engine)>;
        return nb::cast(new Guarded<Engine>{engine, {}}, nb::rv_policy::take_ownership);
    };
    return std::visit(given, g.model.model(entry).engine());
}

std::vector<double> ranks(GuardedStore& g, std::int64_t entry) {
    const auto held = g.lock();
    require(g.model.has(entry), "there is no such entry");
    return g.model.model(entry).ranks();
}

void grow(GuardedStore& g, nb::handle design, std::optional<std::size_t> classes, bool open,
          bool late, std::size_t most_keys) {
    const auto held = g.lock();
    const KeyedModel wider = model_of(design, classes, open, late);
    const KeyedModel& now = g.model.design();
    require(wider.is_bank() == now.is_bank() && wider.labels() == now.labels(), "another kind");
    require(wider.features() >= now.features() && wider.classes() >= now.classes() &&
                wider.engine_outputs() >= now.engine_outputs() && wider.late() >= now.late(),
            "a design that is smaller");
    nb::gil_scoped_release release;
    g.model.grow(wider, most_keys);
}

std::vector<double> take_gone(GuardedStore& g) {
    const auto held = g.lock();
    return g.model.take_gone();
}

nb::tuple last(GuardedStore& g, std::int64_t entry) {
    const auto held = g.lock();
    require(g.model.has(entry), "there is no such entry");
    const Moment moment = g.model.last(entry);
    return nb::make_tuple(moment.seconds, moment.ticks);
}

nb::tuple now(GuardedStore& g) {
    const auto held = g.lock();
    return nb::make_tuple(g.model.now().seconds, g.model.now().ticks);
}

nb::dict snapshot(GuardedStore& g) {
    const auto held = g.lock();
    KeyedStore::Snapshot now = g.model.snapshot();
    const std::size_t n = now.touched.size(), size = g.model.record_size();
    const std::size_t late = now.late.size() / 4;
    nb::dict out;
    out["numbers"] = nb::cast(now.numbers);
    out["texts"] = nb::cast(now.texts);
    out["seconds"] = to_array(std::move(now.seconds), {n});
    out["ticks"] = nb::cast(now.ticks);
    out["touched"] = to_array(std::move(now.touched), {n});
    out["records"] = to_array(std::move(now.records), {n, size});
    out["rows"] = now.rows;
    out["now"] = nb::make_tuple(now.now.seconds, now.now.ticks);
    out["evicted"] = now.evicted;
    out["expired"] = now.expired;
    out["tickets"] = now.tickets;
    out["late"] = to_array(std::move(now.late), {late, 4});
    out["entries"] = nb::cast(now.entries);
    return out;
}

void restore(GuardedStore& g, const nb::dict& state) {
    const auto held = g.lock();
    const auto numbers = [&](const char* name) {
        const auto values = nb::cast<Values>(state[name]);
        return std::vector<double>(values.data(), values.data() + values.size());
    };
    const auto [seconds, ticks] = nb::cast<std::pair<double, std::int64_t>>(state["now"]);
    const KeyedStore::Snapshot in{nb::cast<std::vector<std::int64_t>>(state["numbers"]),
                                  nb::cast<std::vector<std::string>>(state["texts"]),
                                  numbers("seconds"),
                                  numbers("touched"),
                                  numbers("records"),
                                  nb::cast<std::vector<std::int64_t>>(state["ticks"]),
                                  {seconds, ticks},
                                  nb::cast<double>(state["rows"]),
                                  nb::cast<double>(state["evicted"]),
                                  nb::cast<double>(state["expired"]),
                                  nb::cast<double>(state["tickets"]),
                                  numbers("late"),
                                  {}};
    const std::size_t n = g.model.text() ? in.texts.size() : in.numbers.size();
    hold(g.model.size() == 0, "the store is not empty");
    hold(in.seconds.size() == n && in.ticks.size() == n && in.touched.size() == n &&
             in.records.size() == n * g.model.record_size() && in.late.size() % 4 == 0,
         "records that do not fit the keys");
    g.model.restore(in);
}

}  // namespace

void bind_keyed(nb::module_& m) {
    nb::class_<GuardedStore>(m, "KeyedStore")
        .def("__init__", &make, "design"_a, "classes"_a.none(), "open"_a, "text"_a, "late"_a,
             "most_keys"_a, "idle_rows"_a, "idle_time"_a)
        .def("place", &place, "keys"_a, "times"_a.none(), "entries"_a.noconvert(),
             "fresh"_a.noconvert(), "gaps"_a.noconvert())
        .def("first_backwards", &first_backwards, "keys"_a, "times"_a)
        .def("find", &find, "keys"_a, "entries"_a.noconvert())
        .def("learn", &learn, "entries"_a.noconvert(), "fresh"_a.noconvert(), "X"_a.noconvert(),
             "Y"_a.noconvert(), "pace"_a, "shown"_a.noconvert())
        .def("predict", &predict_rows, "entries"_a.noconvert(), "X"_a.noconvert(),
             "shown"_a.noconvert())
        .def("arrive", &arrive, "entries"_a.noconvert(), "fresh"_a.noconvert(), "X"_a.noconvert(),
             "pace"_a, "kept"_a.noconvert(), "shown"_a.noconvert())
        .def("learn_late", &learn_late, "entry"_a, "x"_a.noconvert(), "y"_a.noconvert(), "stamp"_a,
             "ticket"_a, "made"_a.noconvert())
        .def("remake", &remake, "entry"_a, "x"_a.noconvert(), "made"_a.noconvert())
        .def("forget_late", &forget_late, "entry"_a, "ticket"_a)
        .def("forget", &forget, "keys"_a)
        .def("engine", &engine, "entry"_a)
        .def("ranks", &ranks, "entry"_a)
        .def("grow", &grow, "design"_a, "classes"_a.none(), "open"_a, "late"_a, "most_keys"_a)
        .def("take_gone", &take_gone)
        .def("last", &last, "entry"_a)
        .def_prop_ro("now", &now)
        .def("snapshot", &snapshot)
        .def("restore", &restore, "state"_a)
        .def("limited_rows",
             [](GuardedStore& g) {
                 const auto held = g.lock();
                 return g.model.limited_rows();
             })
        .def("__len__", [](GuardedStore& g) { return g.model.size(); })
        .def_prop_ro("text", [](GuardedStore& g) { return g.model.text(); })
        .def_prop_ro("most_made", [](GuardedStore& g) { return g.model.design().most_made(); })
        .def_prop_ro("record_bytes", [](GuardedStore& g) { return g.model.record_bytes(); })
        .def_prop_ro("evicted", [](GuardedStore& g) { return g.model.evicted(); })
        .def_prop_ro("expired", [](GuardedStore& g) { return g.model.expired(); })
        .def_prop_ro("memory_bytes", [](GuardedStore& g) {
            const auto held = g.lock();
            return g.model.memory_bytes();
        });
}

}  // namespace dfop
